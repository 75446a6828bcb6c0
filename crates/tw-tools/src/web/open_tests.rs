use super::*;

/// Reads tags such as `ul li /ul` and leaves out the element behind a star. Says which of the tags come
/// behind its end.
fn shown_behind(tags: &str) -> Vec<&str> {
    let mut open = Open::default();
    let mut begun = false;
    let mut shown = Vec::new();
    for tag in tags.split(' ') {
        if let Some(name) = tag.strip_prefix('*') {
            begun = true;
            if let Some(place) = open.start(name) {
                open.leave_out(place);
            }
            continue;
        }
        match tag.strip_prefix('/') {
            Some(name) => drop(open.end(name)),
            None => drop(open.start(tag)),
        }
        if begun && open.left_out().is_none() {
            shown.push(tag);
        }
    }
    shown
}

#[track_caller]
fn check(tags: &str, expected: &str) {
    assert_eq!(shown_behind(tags).join(" "), expected, "{tags}");
}

#[test]
fn element_ends_at_its_own_tag_and_not_at_one_within() {
    check("*div div /div span /div b", "/div b");
    check("*p b /b /p i", "/p i");
    check("*li ul li /li li /ul b /li i", "/li i");
    check("*span span /span /span i", "/span i");
    check("*my-card p /p /my-card i", "/my-card i");
    check("table tr *td table tr td /td /tr /table b /td i", "/td i");
}

#[test]
fn element_without_a_tag_of_its_own_ends_where_html_ends_it() {
    check("*p b p i", "p i");
    check("*p b div i", "div i");
    check("*p hr", "hr");
    check("ul *li b li i", "li i");
    check("ul *li div b li i", "li i");
    check("ul *li ul li b li /ul i li", "li");
    check("dl *dt b dd i", "dd i");
    check("dl *dd b dt i", "dt i");
    check("table tr *td b td i", "td i");
    check("table tr *th b tr", "tr");
    check("table *tr td b td tr td", "tr td");
    check("table *tbody tr td tbody", "tbody");
    check("table *caption b tr", "tr");
    check("*option option", "option");
    check("*h1 h2", "h2");
    check("*h1 b /h2 i", "/h2 i");
    check("ruby *rt rt", "rt");
}

#[test]
fn element_ends_with_what_it_stands_in() {
    check("div *p b /div i", "/div i");
    check("ul *li b /ul i", "/ul i");
    check("div ul *li b /div i", "/div i");
    check("table tr *td b /table i", "/table i");
    check("section *div b /section i", "/section i");
    check("p *span b /p i", "/p i");
}

#[test]
fn tag_that_ends_nothing_shows_nothing() {
    check("*div b /span /p /li /td /body /html i", "");
    check("*li b /div i", "");
    check("div table tr *td b /div i", "");
    check("span *p b /span i", "");
    check("b *p i /b u /p s", "/p s");
}

#[test]
fn mark_ends_past_a_block() {
    check("*b p /b i", "/b i");
}

#[test]
fn tag_that_holds_nothing_leaves_nothing_out() {
    for name in ["br", "img", "td", "tr", "body"] {
        assert_eq!(Open::default().start(name), None, "{name}");
    }
}

#[test]
fn depth_beyond_all_reason_is_still_counted() {
    let many = |tag: &str| format!("{tag} ").repeat(1_000);
    check(&format!("*div {}{}b /div i", many("div"), many("/div")), "/div i");
    check(&format!("{}*p b /b /p i", many("div")), "/p i");
}
