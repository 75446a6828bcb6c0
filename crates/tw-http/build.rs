//! The web app and the book become part of this crate. The app has to be built first; a change of either is a new build
//! here.

use std::{
    env,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

fn main() {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo names the crate's folder"));
    let app = here.join("../../web/dist");
    println!("cargo::rerun-if-changed={}", app.display());
    if !app.join("index.html").exists() {
        println!(
            "cargo::error=the web app is not built yet: run `cargo xtask web`, or `make run`, which does"
        );
    }
    write_book(&here.join("../../docs"));
}

/// Writes the list of all pages below a folder, each with its text, for `src/book.rs`.
fn write_book(folder: &Path) {
    println!("cargo::rerun-if-changed={}", folder.display());
    let folder = folder.canonicalize().expect("the folder docs/ is there");
    let mut files = pages_in(&folder);
    files.sort();
    let mut list = String::from("&[\n");
    for file in files {
        let name = file.strip_prefix(&folder).expect("it was found there").to_str().expect("a plain name");
        writeln!(list, "({:?}, include_str!({file:?})),", name.replace('\\', "/")).expect("a text grows");
    }
    list.push(']');
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo names a folder for what is generated"));
    fs::write(out.join("book.rs"), list).expect("the folder of the build can be written");
}

fn pages_in(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() {
            found.extend(pages_in(&path));
        } else if path.extension().is_some_and(|ending| ending == "md") {
            found.push(path);
        }
    }
    found
}
