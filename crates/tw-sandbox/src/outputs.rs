//! From what a filter gives to the text of an answer.
//!
//! jaq knows more than JSON does: numbers without end, numbers that are none, strings of bytes, keys
//! that are not strings. What reads the answer knows integers of 64 bits and floats. So integers within
//! 64 bits stay exact, larger ones become floats, floats are cut to what a float can be, as jq does,
//! and what has no form in JSON is refused.

use std::{fmt, io::Write};

use jaq_core::{Ctx, Vars};
use jaq_json::{Num, Val};

use crate::{
    jq::{Data, Filter},
    limits::JqLimits,
    wire::WorkerFailure,
};

/// How deep a result may nest. What reads the answer stops at 128, and an answer has two levels itself.
const DEPTH_MAX: usize = 100;
const MESSAGE_BYTES_MAX: usize = 2 << 10;
/// Floats up to here are whole numbers without doubt, and written as such: `4 / 2` is `2`.
const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;

const OPENING: &[u8] = br#"{"outputs":["#;
const CLOSING: &[u8] = b"]}";

/// Runs a filter until it ends or a limit does, and gives the text of [`WorkerResponse::Outputs`].
///
/// [`WorkerResponse::Outputs`]: crate::wire::WorkerResponse::Outputs
pub(crate) fn run(filter: &Filter, input: Val, limits: &JqLimits) -> Result<Vec<u8>, WorkerFailure> {
    let context = Ctx::<Data>::new(&filter.lut, Vars::new([]));
    let mut text = Text { bytes: OPENING.to_vec(), max: OPENING.len().saturating_add(limits.output_bytes) };
    for (count, output) in filter.id.run((context, input)).enumerate() {
        let output = output.map_err(|stopped| match stopped.get_err() {
            Ok(error) => raised(error),
            Err(_) => failed("it uses `break` outside of its label"),
        })?;
        if count == limits.outputs {
            return Err(WorkerFailure::Outputs);
        }
        if count != 0 {
            text.put(b",")?;
        }
        text.value(&output, 0)?;
    }
    text.bytes.extend_from_slice(CLOSING);
    Ok(text.bytes)
}

/// A text that was raised stands without quotes.
fn raised(error: jaq_json::Error) -> WorkerFailure {
    match error.into_val() {
        Val::TStr(text) => failed(String::from_utf8_lossy(&text)),
        value => failed(value),
    }
}

pub(crate) fn failed(error: impl fmt::Display) -> WorkerFailure {
    let mut message = Message(String::new());
    // An error of the writer only means that the message is as long as it may be.
    let _ = fmt::write(&mut message, format_args!("{error}"));
    WorkerFailure::Failed { message: message.0 }
}

struct Message(String);

impl fmt::Write for Message {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = MESSAGE_BYTES_MAX - self.0.len();
        let fits = text.floor_char_boundary(room);
        self.0.push_str(&text[..fits]);
        if fits < text.len() { Err(fmt::Error) } else { Ok(()) }
    }
}

struct Text {
    bytes: Vec<u8>,
    max: usize,
}

impl Text {
    fn put(&mut self, bytes: &[u8]) -> Result<(), WorkerFailure> {
        if self.max - self.bytes.len() < bytes.len() {
            return Err(WorkerFailure::OutputBytes);
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn value(&mut self, value: &Val, depth: usize) -> Result<(), WorkerFailure> {
        if depth == DEPTH_MAX {
            return Err(failed(format_args!("a result nests deeper than {DEPTH_MAX} levels")));
        }
        match value {
            Val::Null => self.put(b"null"),
            Val::Bool(true) => self.put(b"true"),
            Val::Bool(false) => self.put(b"false"),
            Val::Num(number) => self.number(number),
            Val::TStr(text) => self.string(text),
            Val::BStr(_) => Err(failed("a result must not be a byte string: JSON cannot hold it")),
            Val::Arr(items) => {
                self.put(b"[")?;
                for (index, item) in items.iter().enumerate() {
                    self.comma(index)?;
                    self.value(item, depth + 1)?;
                }
                self.put(b"]")
            }
            Val::Obj(entries) => {
                self.put(b"{")?;
                for (index, (key, item)) in entries.iter().enumerate() {
                    let Val::TStr(key) = key else {
                        return Err(failed("a key of a result is not a string"));
                    };
                    self.comma(index)?;
                    self.string(key)?;
                    self.put(b":")?;
                    self.value(item, depth + 1)?;
                }
                self.put(b"}")
            }
        }
    }

    fn comma(&mut self, index: usize) -> Result<(), WorkerFailure> {
        if index == 0 { Ok(()) } else { self.put(b",") }
    }

    fn string(&mut self, text: &[u8]) -> Result<(), WorkerFailure> {
        self.json(&String::from_utf8_lossy(text))
    }

    fn number(&mut self, number: &Num) -> Result<(), WorkerFailure> {
        match number {
            Num::Int(whole) => self.json(whole),
            Num::BigInt(large) => {
                let digits = large.to_string();
                if digits.parse::<i64>().is_ok() || digits.parse::<u64>().is_ok() {
                    return self.put(digits.as_bytes());
                }
                self.float(digits.parse().unwrap_or(f64::NAN))
            }
            Num::Float(float) if float.fract() == 0.0 && float.abs() <= WHOLE_MAX && *float != 0.0 => {
                self.json(&(*float as i64))
            }
            Num::Float(float) if float.to_bits() == 0 => self.put(b"0"),
            Num::Float(float) => self.float(*float),
            Num::Dec(decimal) => self.float(decimal.parse().unwrap_or(f64::NAN)),
        }
    }

    fn float(&mut self, float: f64) -> Result<(), WorkerFailure> {
        if float.is_nan() {
            return self.put(b"null");
        }
        self.json(&float.clamp(f64::MIN, f64::MAX))
    }

    fn json(&mut self, value: &(impl serde::Serialize + ?Sized)) -> Result<(), WorkerFailure> {
        serde_json::to_writer(&mut *self, value).map_err(|_| WorkerFailure::OutputBytes)
    }
}

impl Write for Text {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.put(bytes).map_err(|_| std::io::ErrorKind::FileTooLarge)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
