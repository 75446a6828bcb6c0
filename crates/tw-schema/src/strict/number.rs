//! Numbers: their grammar, and whether they can be kept.

use super::{JsonFault, JsonFaultKind, Scanner};

/// Integers with this many digits fit in 64 bits whatever their sign.
const SAFE_DIGITS: usize = 18;

/// A number without an exponent stays finite up to this many digits before the point.
const FINITE_DIGITS: usize = 308;

impl Scanner<'_> {
    pub(super) fn number(&mut self) -> Result<(), JsonFault> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        let whole = self.at;
        if self.peek() == Some(b'0') {
            self.at += 1;
            if matches!(self.peek(), Some(b'0'..=b'9')) {
                return Err(JsonFault::syntax(whole, "no leading zero"));
            }
        } else {
            self.digits()?;
        }
        let digits = self.at - whole;
        let point = self.peek() == Some(b'.');
        if point {
            self.at += 1;
            self.digits()?;
        }
        let exponent = matches!(self.peek(), Some(b'e' | b'E'));
        if exponent {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        let kept = match (point, exponent) {
            (false, false) => digits <= SAFE_DIGITS || is_integer(&self.text[start..self.at]),
            (true, false) if digits <= FINITE_DIGITS => true,
            _ => self.text[start..self.at].parse::<f64>().is_ok_and(f64::is_finite),
        };
        if kept { Ok(()) } else { Err(JsonFault::new(start, JsonFaultKind::NumberOutOfRange)) }
    }

    /// Passes over one digit or more.
    fn digits(&mut self) -> Result<(), JsonFault> {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            return Err(self.unexpected("a digit"));
        }
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        Ok(())
    }
}

fn is_integer(text: &str) -> bool {
    text.parse::<u64>().is_ok() || text.parse::<i64>().is_ok()
}
