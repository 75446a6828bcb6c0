//! What is sent.

use serde_json::{Value, json};

/// The body of a call of `add`: 29 bytes.
#[must_use]
pub fn add() -> Vec<u8> {
    json!({ "input": { "a": 1.5, "b": 2.25 } }).to_string().into_bytes()
}

/// The body of a call of `order`: an input of 2 KB.
#[must_use]
pub fn order() -> Vec<u8> {
    let address = |number: u32| json!({ "street": format!("{number} Harbour View Road"), "city": "Hamburg", "postcode": "20457", "country": "DE" });
    let line = |number: u32| {
        json!({
            "sku": format!("SKU-{number:06}"),
            "title": format!("Adjustable shelf bracket, size {number}, brushed steel with four screws"),
            "quantity": number + 1,
            "unit_price": 12.5 + f64::from(number),
            "tags": ["hardware", "steel", "shelf"],
        })
    };
    let lines: Vec<Value> = (0..9).map(line).collect();
    let input = json!({
        "number": "AB-123456",
        "customer": {
            "name": "Ada Lovelace", "email": "ada@example.com", "billing": address(17), "shipping": address(4),
        },
        "lines": lines,
        "payment": { "method": "card", "last_four": "4242", "holder": "Ada Lovelace" },
        "note": "Please leave the parcel with the neighbours on the ground floor if nobody is at home.",
    });
    json!({ "input": input }).to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    #[test]
    fn order_has_two_kilobytes() {
        assert!((1900..2200).contains(&super::order().len()), "{}", super::order().len());
    }
}
