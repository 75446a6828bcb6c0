//! Tools that ask other people's servers. All of them go through the guarded client of their context.

mod brave;
mod exa;
mod hidden;
mod http_request;
mod letters;
mod mcp_call;
mod open;
mod outside;
mod page;
mod search_key;
mod serper;
mod sheet;
mod table;
mod web_fetch;
mod web_search;
