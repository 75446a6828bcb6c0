use super::*;

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
const HINT: &[u8] = b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n";

fn stream(max: usize) -> Stream<()> {
    Stream::new((), max)
}

#[test]
fn heads_before_the_answer_are_counted_however_they_are_cut() {
    let bare = b"\r\nHTTP/1.0 100\nx: y\n\n";
    for head in [HINT, bare] {
        for size in 1..head.len() {
            let flood = head.repeat(1_000 / head.len() + 1);
            let mut stream = stream(1_000);
            assert!(flood.chunks(size).any(|piece| stream.heard(piece).is_err()), "pieces of {size}");
        }
    }
}

#[test]
fn answer_behind_other_heads_is_not_counted() {
    let mut stream = stream(2 * HINT.len() + ANSWER.len());
    for piece in [HINT, HINT, ANSWER, HINT, HINT, HINT, HINT] {
        assert!(stream.heard(piece).is_ok());
    }
    assert_eq!(stream.reading, Reading::Answer);
}

#[test]
fn every_request_is_counted_anew() {
    let mut stream = stream(2 * HINT.len());
    for _ in 0..10 {
        stream.said();
        assert!(stream.heard(&[HINT, ANSWER].concat()).is_ok());
    }
}

#[test]
fn body_of_an_early_answer_is_not_counted_while_the_request_goes_on() {
    let mut stream = stream(100);
    assert!(stream.heard(ANSWER).is_ok());
    for _ in 0..10 {
        stream.said();
        assert!(stream.heard(&[b'1'; 1_000]).is_ok());
    }
}

#[test]
fn connection_is_stale_only_behind_an_answer_and_before_the_next() {
    let mut stream = stream(1_000);
    let stale = stream.stale.clone();
    stream.said();
    assert!(!stale.get(), "a fresh connection");
    stream.heard(ANSWER).unwrap();
    assert!(!stale.get(), "nothing was asked");
    stream.said();
    stream.heard(b"").unwrap();
    assert!(stale.get());
    stream.heard(b"H").unwrap();
    assert!(!stale.get(), "an answer has begun");
}
