# A menu. Anything with an `if` in it belongs to xtask/.

.PHONY: help run test check bench soak fmt
.DEFAULT_GOAL := help

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /make \1\t/p' $(MAKEFILE_LIST)

run: ## start the server
	cargo xtask web
	cargo run -p tw-server -- serve

test: ## everything that must hold before a change lands
	cargo xtask test

check: ## formatting, lints and house rules only
	cargo xtask check

bench: ## the benchmarks
	cargo xtask bench

soak: ## the long tests, about half an hour
	cargo xtask soak

fmt: ## format the code
	cargo fmt --all
