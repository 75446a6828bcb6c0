//! The book: the app for people, Markdown for programs, nothing for whoever asks for what is not there.

use std::{fs, path::Path};

use reqwest::Method;

use super::{ask, header, sqlite};
use crate::world::Client;

const BROWSER: (&str, &str) = ("accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8");

#[tokio::test(flavor = "multi_thread")]
async fn every_page_of_the_book_is_served_to_programs_and_people() {
    let world = sqlite().await;
    let server = world.server();
    let stranger = Client::new(&server.url, None);
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs"));
    let listed = stranger.get("/llms.txt").await;
    let mut pages = 0;
    for part in ["", "errors/", "tools/", "adr/"] {
        for entry in fs::read_dir(folder.join(part)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let Some(bare) = name.strip_suffix(".md") else { continue };
            let text = fs::read_to_string(folder.join(part).join(&name)).unwrap();
            let file = format!("/docs/{part}{name}");
            assert!(listed.text.contains(&format!("]({file})")), "{file} is not listed");
            let path = format!("/docs/{part}{}", if bare == "README" { "" } else { bare });
            for (path, accept) in [(&file, "text/html"), (&path, "*/*"), (&path, "text/markdown")] {
                let markdown = ask(&stranger, Method::GET, path, &[("accept", accept)]).await;
                assert_eq!(markdown.status, 200, "{path}");
                assert_eq!(header(&markdown, "content-type"), "text/markdown; charset=utf-8", "{path}");
                assert!(markdown.text == text, "{path}");
            }
            let shown = ask(&stranger, Method::GET, &path, &[BROWSER]).await;
            assert_eq!(shown.status, 200, "{path}");
            assert_eq!(header(&shown, "content-type"), "text/html; charset=utf-8", "{path}");
            assert!(header(&shown, "vary").contains("accept"), "{path}");
            pages += 1;
        }
    }
    let index = stranger.get("/docs/index.json").await;
    assert_eq!(index.json().as_array().unwrap().len(), pages);
}

#[tokio::test(flavor = "multi_thread")]
async fn reference_has_an_address_for_every_operation() {
    let world = sqlite().await;
    let server = world.server();
    let stranger = Client::new(&server.url, None);
    for path in ["/docs/api", "/docs/api/create_tool", "/api/docs"] {
        let shown = ask(&stranger, Method::GET, path, &[BROWSER]).await;
        assert_eq!(shown.status, 200, "{path}");
        assert_eq!(header(&shown, "content-type"), "text/html; charset=utf-8", "{path}");
    }
    let list = stranger.get("/docs/api.md").await;
    assert!(list.text.contains("- `POST /api/tools`: "), "{}", list.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn page_that_is_not_in_the_book_is_missing() {
    let world = sqlite().await;
    let server = world.server();
    let stranger = Client::new(&server.url, None);
    for path in ["/docs/nothing", "/docs/errors/NOTHING.md", "/docs/images/run-dark.png", "/docs/api/nothing"]
    {
        let refused = stranger.get(path).await;
        assert_eq!(refused.status, 404, "{path}");
        assert_eq!(refused.text_at("/code"), "NOT_FOUND", "{path}");
    }
    // The app says it in its own words.
    let shown = ask(&stranger, Method::GET, "/docs/nothing", &[BROWSER]).await;
    assert_eq!(shown.status, 404);
    assert_eq!(header(&shown, "content-type"), "text/html; charset=utf-8");
}
