use std::time::{Duration, Instant};

use expect_test::{Expect, expect};

use super::*;

fn page(html: &str, style: Style) -> Page {
    let base = Url::parse("https://site.test/a/b").unwrap();
    read(html, Reading { style, base: &base, bytes_max: 1 << 20 }, || false)
}

#[track_caller]
fn check(html: &str, expected: Expect) {
    expected.assert_eq(&page(html, Style::Markdown).text);
}

#[test]
fn headings_paragraphs_and_words_are_kept() {
    check(
        "<h1>One\n <em>big</em>\nword</h1><p>A  <b>bold</b>, <i>slanted</i> and <code>let x</code>.\n<p>Next<br>line",
        expect![[r#"
            # One *big* word

            A **bold**, *slanted* and `let x`.

            Next
            line"#]],
    );
}

#[test]
fn what_stands_around_the_text_is_left_out() {
    check(
        "<head><title>T</title><style>p{}</style><script>if (a < b) '<p>no</p>'</script></head>
         <header><nav><ul><li>Home</ul></nav></header><aside>Buy!</aside>
         <main><article><header><h1>Title</h1></header><p>Text &amp; more</p></article></main>
         <footer>Imprint</footer><noscript>Turn it on</noscript><div hidden>secret <div>in</div></div>",
        expect![[r#"
            # Title

            Text & more"#]],
    );
}

/// Where a page puts words that only an agent is to read.
#[test]
fn what_is_hidden_is_left_out_and_nothing_else_with_it() {
    for hidden in [
        "<p hidden>no</p>",
        "<p hidden>no",
        "<p aria-hidden=true>no",
        "<p style='display:none'>no",
        "<div style='color: red; display: none'>no<p>no</div>",
        "<span style=visibility:hidden>no</span>",
        "<h2 style=display:none>no</h2>",
        "<ul><li hidden>no<li>yes<li hidden>no</ul>",
        "<ul><li hidden>no<ul><li>no</ul>no</li></ul>",
        "<dl><dt hidden>no<dd hidden>no</dl>",
        "<table><tr><td hidden>no<td>yes<tr hidden><td>no</table>",
        "<img hidden alt=no>",
        "<div><p hidden>no</div>",
        "<section hidden>no</section>",
        "<my-card hidden>no</my-card>",
        "<pre>yes<span hidden>no</span></pre>",
        "<a href=/x><b hidden>no</b></a>",
    ] {
        for style in [Style::Markdown, Style::Text] {
            let html = format!("<body><main><p>before</p>{hidden}<p>after</p></main><p>end");
            let text = page(&html, style).text;
            assert!(!text.contains("no"), "{hidden}: {text}");
            for kept in ["before", "after", "end"] {
                assert!(text.contains(kept), "{hidden}: {text}");
            }
            assert_eq!(text.contains("yes"), hidden.contains("yes"), "{hidden}: {text}");
        }
    }
}

#[test]
fn what_is_hidden_stays_so_whatever_is_left() {
    for html in [
        "<div hidden>no</div>",
        "<header><p hidden>no</header>",
        "<div hidden>a</body>no",
        "<p hidden>a</div>no",
    ] {
        assert!(!page(html, Style::Markdown).text.contains("no"), "{html}");
    }
}

/// Such pages wait for a script, and then show everything.
#[test]
fn page_that_is_hidden_as_a_whole_is_read() {
    check("<html style='visibility:hidden'><body hidden style=display:none><p>text", expect!["text"]);
}

#[test]
fn lists_are_indented_and_numbered() {
    check(
        "<ul><li>a<li>b<ul><li>c</li></ul></li></ul><ol start=3><li><p>three</p><p>more</p><li>four</ol><p>end",
        expect![[r#"
            - a
            - b
              - c

            3. three

               more

            4. four

            end"#]],
    );
}

#[test]
fn links_lead_to_whole_addresses_and_only_to_pages() {
    check(
        r##"<a href="/x?y=1">one</a> <a href="c d">two</a> <a href="javascript:alert(1)">three</a>
            <a href="#here">four</a> <a href="mailto:a@b.test">five</a> <a href="/w_(z)"><h2>six</h2><p>seven</p></a>"##,
        expect![[r#"
            [one](https://site.test/x?y=1) [two](https://site.test/a/c%20d) three four [five](mailto:a@b.test)

            ## [six](https://site.test/w_%28z%29)

            [seven](https://site.test/w_%28z%29)"#]],
    );
    check(r#"<base href="https://other.test/"><a href="x">one</a>"#, expect!["[one](https://other.test/x)"]);
}

#[test]
fn listings_stand_as_they_are() {
    check(
        "<p>Do:<pre><code class='hl language-rust'>fn <b>main</b>() {\n    a &lt; b\n}\n</code></pre><p>and</p>
         <pre>```\nx</pre>",
        expect![[r#"
            Do:

            ```rust
            fn main() {
                a < b
            }
            ```

            and

            ````
            ```
            x
            ````"#]],
    );
}

#[test]
fn tables_keep_their_cells() {
    check(
        "<table><thead><tr><th>Name<th>Size</thead><tr><td><a href=/a>a|b</a><td>1<p>2</table>after",
        expect![[r#"
            | Name | Size |
            | --- | --- |
            | [a\|b](https://site.test/a) | 1 2 |

            after"#]],
    );
    check(
        "<table><tr><td>left<td><table><tr><td>x<td>y</table>right</table>",
        expect![[r#"
        left

        | x | y |
        | --- | --- |

        right"#]],
    );
}

#[test]
fn quotes_are_marked_line_by_line() {
    check(
        "<blockquote><p>a</p><p>b<blockquote>c</blockquote></blockquote>d<hr>e",
        expect![[r#"
        > a
        >
        > b
        >>
        > > c

        d

        ---

        e"#]],
    );
}

#[test]
fn plain_text_has_no_marks() {
    let html = "<h2>One</h2><p>A <b>bold</b> <a href=/x>link</a><ul><li>a</ul><table><tr><td>x<td>y</table>";
    expect![[r#"
        One

        A bold link

        - a

        x | y"#]]
    .assert_eq(&page(html, Style::Text).text);
}

#[test]
fn title_is_the_first_one() {
    let title = |html| page(html, Style::Markdown).title;
    assert_eq!(title("<title> A\n &lt;page&gt; </title><body><title>B</title>").as_deref(), Some("A <page>"));
    assert_eq!(title("<p>none"), None);
    assert_eq!(title("<svg><title>drawing</title></svg><title></title>x"), None);
}

#[test]
fn page_of_nothing_but_a_header_is_read_all_the_same() {
    check(
        "<header>All <p>there is",
        expect![[r#"
        All

        there is"#]],
    );
}

#[test]
fn tags_that_nobody_opened_or_closed_do_no_harm() {
    for html in [
        "</ul></blockquote></table></td></pre></b></a>x",
        "<ul><blockquote><table><tr><td><b><a href=/x>x",
        "<table><td>x</table></table><tr>",
        "<pre>x",
        "<a href=/1><a href=/2>x</a></a>",
    ] {
        assert!(page(html, Style::Markdown).text.contains('x'), "{html}");
    }
}

/// Each of these is slow for somebody: a tree with a stack, a tree with a search, a list of attributes.
#[test]
fn hostile_page_ends_in_time() {
    // Much more than that is read; what grows with the square of the size is seen here already.
    let size = 256 << 10;
    let many = |piece: &str| piece.repeat(size / piece.len());
    let deep = |tag: &str| format!("{}x", format!("<{tag}>").repeat(100_000));
    let attributes: String = (0..50_000).map(|n| format!(" a{n}=b")).collect();
    let link = format!("<a href=/{}>{}", "x".repeat(1_900), many("<p>y"));
    let pages = [
        deep("div"),
        deep("b"),
        deep("blockquote"),
        deep("ul><li"),
        deep("table><tr><td"),
        deep("a href=/x"),
        many("<p>x"),
        many("<b>"),
        many("<"),
        many("&"),
        many("&amp"),
        many("<!--"),
        many("<td>"),
        many("</p>"),
        many("<table><td>x"),
        many("<ul><li>x"),
        many("<blockquote>x "),
        many("`"),
        many("<pre>"),
        many("a "),
        many("<script>"),
        many("<nav>"),
        many("<title>"),
        format!("<p{attributes}>x"),
        format!("<p style='{}'>x", many("display:/*")),
        format!("{}{}", "<b>".repeat(250), many("<div></div>")),
        format!("{}{}", "<b>".repeat(250), many("</td>")),
        link,
    ];
    for html in pages {
        let start = Instant::now();
        let read = page(&html, Style::Markdown);
        let (took, shown) = (start.elapsed(), &html[..html.len().min(40)]);
        assert!(took < Duration::from_secs(10), "{shown} took {took:?}");
        assert!(read.text.len() < 32 << 20, "{shown} became {} bytes", read.text.len());
    }
}

#[test]
fn reading_stops_when_enough_is_there_or_nobody_waits() {
    let base = Url::parse("https://site.test/").unwrap();
    let html = "<p>words ".repeat(100_000);
    let reading = Reading { style: Style::Markdown, base: &base, bytes_max: 1_000 };
    let read_some = read(&html, reading, || false);
    assert!(read_some.cut && read_some.text.len() < 2_000);
    let stopped = read(&html, Reading { bytes_max: 1 << 20, ..reading }, || true);
    assert!(stopped.cut && stopped.text.is_empty());
}
