//! What the tools that the goals name take, do and give: the same under test and in the floor.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Terms {
    /// The first number.
    a: f64,
    /// The second number.
    b: f64,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Sum {
    /// What they make together.
    pub sum: f64,
}

#[must_use]
pub fn add(terms: Terms) -> Sum {
    let Terms { a, b } = terms;
    Sum { sum: a + b }
}

/// A customer's order, as a shop would send it.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Order {
    #[schemars(regex(pattern = "^[A-Z]{2}-[0-9]{6}$"))]
    pub number: String,
    customer: Customer,
    #[schemars(length(min = 1, max = 100))]
    pub lines: Vec<Line>,
    payment: Payment,
    #[schemars(length(max = 500))]
    note: Option<String>,
}

#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Customer {
    #[schemars(length(min = 1, max = 200))]
    name: String,
    #[schemars(length(max = 200))]
    email: String,
    billing: Address,
    shipping: Address,
}

#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Address {
    #[schemars(length(min = 1, max = 200))]
    street: String,
    #[schemars(length(min = 1, max = 100))]
    city: String,
    #[schemars(regex(pattern = "^[0-9]{5}$"))]
    postcode: String,
    #[schemars(length(min = 2, max = 2))]
    country: String,
}

#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Line {
    #[schemars(regex(pattern = "^[A-Z0-9-]{4,20}$"))]
    sku: String,
    #[schemars(length(max = 200))]
    title: String,
    #[schemars(range(min = 1, max = 999))]
    quantity: u32,
    #[schemars(range(min = 0))]
    unit_price: f64,
    #[schemars(length(max = 10))]
    tags: Vec<String>,
}

#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "method", deny_unknown_fields)]
pub enum Payment {
    Card { last_four: String, holder: String },
    Invoice { days: u32 },
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Confirmed {
    /// The order as it was understood.
    pub order: Order,
    #[schemars(range(min = 0))]
    total: f64,
    accepted: bool,
}

#[must_use]
pub fn confirm(order: Order) -> Confirmed {
    let total = order.lines.iter().map(|line| f64::from(line.quantity) * line.unit_price).sum();
    Confirmed { order, total, accepted: true }
}
