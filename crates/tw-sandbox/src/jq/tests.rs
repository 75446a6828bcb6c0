use super::{FILTER_BYTES_MAX, SIGNS_MAX, check};

#[test]
fn filter_is_refused_with_the_place_and_plain_words() {
    refuses("", "line 1, column 1: expected term, but the filter ends");
    refuses(".a | ", "line 1, column 6: expected term, but the filter ends");
    refuses(".a |\n  (.b", "line 2, column 6: expected closing parenthesis, but the filter ends");
    refuses("ä§", "line 1, column 1: expected token, found `ä`");
    refuses("if . then 1", "line 1, column 12: expected else or end, but the filter ends");
    refuses("1 2", "line 1, column 3: expected nothing, found `2`");
    refuses("frobnicate", "line 1, column 1: there is no filter `frobnicate`");
    refuses("map(1; 2)", "line 1, column 1: there is no filter `map` with 2 arguments");
    refuses("$x", "line 1, column 1: there is no variable `$x`");
}

#[test]
fn filter_sees_nothing_of_the_process_and_of_its_files() {
    for name in [
        "env",
        "halt",
        "halt_error",
        "input",
        "inputs",
        "input_filename",
        "input_line_number",
        "get_search_list",
    ] {
        refuses(name, &format!("line 1, column 1: there is no filter `{name}`"));
    }
    refuses("$ENV", "line 1, column 1: there is no variable `$ENV`");
    refuses("$__prog_args", "line 1, column 1: there is no variable `$__prog_args`");
    refuses(
        r#"import "/etc/passwd" as $x; $x"#,
        "line 1, column 9: `import` and `include` are not supported",
    );
    refuses(r#"import "a" as a; a::b"#, "line 1, column 9: `import` and `include` are not supported");
    refuses(r#"include "a"; ."#, "line 1, column 10: `import` and `include` are not supported");
}

#[test]
fn no_shape_of_a_filter_reaches_the_end_of_the_stack() {
    for [start, middle, end] in [
        ["(", ".", ")"],
        ["[", "", "]"],
        ["{a:", ".", "}"],
        [".[", ".", "]"],
        [".a[", ".", ":]"],
        ["f(", ".", ")"],
        ["\"\\(", ".", ")\""],
        ["def f:", ".", ";."],
        ["if . then ", ".", " end"],
        ["if ", ".", " then . end"],
        ["reduce . as $x (", ".", ";.)"],
        ["- ", "1", ""],
        ["-", "1", ""],
        ["try ", ".", ""],
        ["label $x|", ".", ""],
        [". as $x|", ".", ""],
        [". as [", "$x", "]|."],
        [". as {a:", "$x", "}|."],
        [".|", ".", ""],
        [".,", ".", ""],
        [".+", ".", ""],
        [".=", ".", ""],
        [".//", ".", ""],
        ["..", ".", ""],
        [".a", "", ""],
        [".[]", "", ""],
        [".?", "", ""],
    ] {
        let times = (FILTER_BYTES_MAX - middle.len()) / (start.len() + end.len());
        // What matters is that it answers.
        let _ = check(&format!("{}{middle}{}", start.repeat(times), end.repeat(times)));
        let _ = check(&start.repeat(FILTER_BYTES_MAX / start.len()));
    }
    for [before, again, behind] in [[".", "?", ""], ["", "-", "1"], ["", "- ", "1"]] {
        for times in [SIGNS_MAX, FILTER_BYTES_MAX - 2] {
            let _ = check(&format!("{before}{}{behind}", again.repeat(times)));
        }
    }
}

#[test]
fn filter_that_is_too_long_is_not_read() {
    let longest = format!("{}.", " ".repeat(FILTER_BYTES_MAX - 1));
    assert_eq!(check(&longest), Ok(()));
    refuses(&format!(" {longest}"), "it is over 16384 bytes long");
    refuses(&format!("{}1", "-".repeat(SIGNS_MAX + 1)), "it has more than 4096 of `-`");
}

#[track_caller]
fn refuses(filter: &str, message: &str) {
    assert_eq!(check(filter), Err(message.to_owned()), "{filter}");
}
