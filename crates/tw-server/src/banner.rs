//! What a server prints when it is ready.

use std::{
    io::{self, Write},
    net::SocketAddr,
};

use serde_json::json;
use tw_engine::FirstRun;
use tw_store::Durability;

/// The page that takes a sign-in link.
pub(crate) fn sign_in(base: &str, token: &str) -> String {
    format!("{base}/sign-in?token={token}")
}

/// Prints all at once and last of all the line that says that the server is ready. Nobody reading is no
/// reason not to serve.
pub(crate) fn print(
    address: SocketAddr,
    base: &str,
    database: &str,
    durability: Durability,
    first: Option<&FirstRun>,
) {
    let mut out = io::stdout().lock();
    let _ = writeln!(out, "{}", text(address, base, database, durability, first));
    let _ = out.flush();
}

fn text(
    address: SocketAddr,
    base: &str,
    database: &str,
    durability: Durability,
    first: Option<&FirstRun>,
) -> String {
    let mut text = match first {
        Some(first) => first_start(base, first),
        None => "`toolwright users link EMAIL` makes a new sign-in link\n".to_owned(),
    };
    if durability == Durability::Buffered {
        text.push_str(
            "WARNING: log.durability is `buffered`, for measuring only: a crash loses answered calls\n",
        );
    }
    text + &format!("database: {database}\nlistening on http://{address}")
}

fn first_start(base: &str, first: &FirstRun) -> String {
    let snippet = json!({ "mcpServers": { "toolwright": {
        "type": "http",
        "url": format!("{base}/mcp"),
        "headers": { "Authorization": format!("Bearer {}", first.key) },
    } } });
    format!(
        "First start: the tenant `demo` and its admin were created.\n\
         \n\
         sign in: {}\n\
         api key: {}\n\
         \n\
         The link works once, within 24 hours; link and key are not shown again. For an MCP client:\n\
         \n\
         {snippet:#}\n\
         \n",
        sign_in(base, &first.link),
        first.key,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_start_shows_link_key_and_snippet_and_ends_with_the_address() {
        let first = FirstRun { link: "token".to_owned(), key: "tw_key".to_owned() };
        let address = "127.0.0.1:7420".parse().unwrap();
        let text = text(address, "https://tools.example.com", "SQLite, f", Durability::Full, Some(&first));
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.contains(&"sign in: https://tools.example.com/sign-in?token=token"), "{text}");
        assert!(lines.contains(&"api key: tw_key"), "{text}");
        assert!(text.contains(r#""url": "https://tools.example.com/mcp""#), "{text}");
        assert!(text.contains(r#""Authorization": "Bearer tw_key""#), "{text}");
        assert!(lines.contains(&"database: SQLite, f"), "{text}");
        assert_eq!(lines.last(), Some(&"listening on http://127.0.0.1:7420"));
    }

    #[test]
    fn buffered_durability_is_said_aloud() {
        let address = "127.0.0.1:1".parse().unwrap();
        let text = text(address, "http://127.0.0.1:1", "SQLite, f", Durability::Buffered, None);
        assert!(text.contains("WARNING") && text.contains("buffered"), "{text}");
        assert!(text.ends_with("\nlistening on http://127.0.0.1:1"), "{text}");
    }
}
