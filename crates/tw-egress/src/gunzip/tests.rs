use flate2::{Compression, write::GzEncoder};
use proptest::prelude::*;

use super::*;

#[test]
fn what_fits_exactly_comes_out_and_one_byte_more_does_not() {
    let packed = gzip(&[7; 100_000]);
    assert_eq!(unpack(100_000, &[&packed]), Ok(vec![7; 100_000]));
    assert_eq!(unpack(99_999, &[&packed]), Err(UnpackStop::Full));
}

#[test]
fn several_members_are_one_body() {
    assert_eq!(unpack(10, &[&gzip(b"one"), &gzip(b"two")]), Ok(b"onetwo".to_vec()));
}

#[test]
fn nothing_at_all_is_an_empty_body() {
    assert_eq!(unpack(10, &[]), Ok(Vec::new()));
}

#[test]
fn what_is_cut_or_followed_by_something_else_is_broken() {
    let packed = gzip(b"hello");
    for end in 1..packed.len() {
        assert_eq!(unpack(10, &[&packed[..end]]), Err(UnpackStop::Broken), "cut at {end}");
    }
    assert_eq!(unpack(10, &[&packed, b"and more"]), Err(UnpackStop::Broken));
}

#[test]
fn piece_is_handed_out_before_the_next_one_comes() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(b"event: one\n\n").unwrap();
    encoder.flush().unwrap();
    let first = std::mem::take(encoder.get_mut());

    let mut gunzip = Gunzip::new(100);
    assert_eq!(gunzip.feed(&first), Ok(Bytes::from_static(b"event: one\n\n")));
}

proptest! {
    #[test]
    fn pieces_of_any_size_make_the_same_body(body: Vec<u8>, size in 1..64_usize) {
        let packed = gzip(&body);
        let pieces: Vec<&[u8]> = packed.chunks(size).collect();
        prop_assert_eq!(unpack(body.len(), &pieces), Ok(body));
    }

    #[test]
    fn rubbish_is_refused_and_never_more_than_the_room(rubbish: Vec<u8>, at: usize, byte: u8) {
        let _ = unpack(1000, &[&rubbish]);
        let mut packed = gzip(&[1; 5000]);
        let at = at % packed.len();
        packed[at] ^= byte;
        if let Ok(body) = unpack(5000, &[&packed]) {
            prop_assert_eq!(body, vec![1; 5000]);
        }
    }
}

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

fn unpack(room: usize, pieces: &[&[u8]]) -> Result<Vec<u8>, UnpackStop> {
    let mut gunzip = Gunzip::new(room);
    let mut body = Vec::new();
    for piece in pieces {
        body.extend_from_slice(&gunzip.feed(piece)?);
    }
    body.extend_from_slice(&gunzip.finish()?);
    Ok(body)
}
