//! The letters that a page says it is written in.

use html5gum::{DefaultEmitter, StartTag, Token, Tokenizer};
use toolwright_sdk::egress::Charset;

use super::page::attribute;

/// Where a page has to say it.
const BYTES_MAX: usize = 1_024;

/// What a `meta` tag at the beginning of a page names. The same words elsewhere (in a title, a script, a
/// comment) say nothing.
pub(super) fn said_by(page: &[u8]) -> Option<Charset> {
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    let tokens = Tokenizer::new_with_emitter(&page[..page.len().min(BYTES_MAX)], emitter);
    let named = tokens.filter_map(|Ok(token)| match token {
        Token::StartTag(tag) if *tag.name == *b"meta" => named_by(&tag),
        _ => None,
    });
    named.map(Charset::as_said_by_the_text).next()
}

fn named_by(meta: &StartTag<()>) -> Option<Charset> {
    if let Some(label) = attribute(meta, "charset") {
        return Charset::labelled(&label);
    }
    let is_type = attribute(meta, "http-equiv")?.trim().eq_ignore_ascii_case("content-type");
    attribute(meta, "content").filter(|_| is_type).and_then(|content| Charset::named_in(&content))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_named_by_meta_tags_alone() {
        let table = [
            ("<meta charset=shift_jis>", Some("shift_jis")),
            ("<!doctype html><html><head><META CHARSET=' Shift_JIS '/>", Some("shift_jis")),
            ("<meta http-equiv='Content-Type' content='text/html; charset=koi8-r'>", Some("koi8-r")),
            ("<meta charset=nonsense><meta charset=koi8-r>", Some("koi8-r")),
            ("<meta name=a content='b; charset=koi8-r'>", None),
            ("<title>How charset=koi8-r works</title>", None),
            ("<title><meta charset=koi8-r></title>", None),
            ("<script charset=shift_jis>'<meta charset=koi8-r>'</script>", None),
            ("<!-- <meta charset=koi8-r> -->", None),
            ("<p title='<meta charset=koi8-r>'>", None),
            ("<meta charset=utf-16>", Some("utf-8")),
            ("<meta http-equiv=content-type content='text/html;charset=utf-16be'>", Some("utf-8")),
        ];
        for (page, expected) in table {
            assert_eq!(said_by(page.as_bytes()), expected.and_then(Charset::labelled), "{page}");
        }
    }

    #[test]
    fn only_the_beginning_of_a_page_is_looked_at() {
        let late = format!("{}<meta charset=koi8-r>", " ".repeat(BYTES_MAX));
        assert_eq!(said_by(late.as_bytes()), None);
        assert_eq!(said_by(b"<p>\xff\xfe<meta charset=koi8-r>"), Charset::labelled("koi8-r"));
    }
}
