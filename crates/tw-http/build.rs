//! The web app becomes part of this crate, so it has to be there, and a new build of it is a new build here.

use std::{env, path::PathBuf};

fn main() {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo names the crate's folder"));
    let app = here.join("../../web/dist");
    println!("cargo::rerun-if-changed={}", app.display());
    if !app.join("index.html").exists() {
        println!(
            "cargo::error=the web app is not built yet: run `cargo xtask web`, or `make run`, which does"
        );
    }
}
