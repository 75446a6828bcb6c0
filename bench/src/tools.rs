//! The tools that the goals name: `add`, the same with an effect, and `order`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolwright_sdk::{Reply, ToolContext, ToolFailure, tool};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Terms {
    /// The first number.
    a: f64,
    /// The second number.
    b: f64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Sum {
    /// What they make together.
    sum: f64,
}

/// Adds two numbers.
#[tool(slug = "add", name = "Add", category = "bench", icon = "plus", version = "1.0.0", level = "read")]
async fn add(_cx: ToolContext, terms: Terms) -> Result<Reply<Sum>, ToolFailure> {
    let sum = terms.a + terms.b;
    Ok(Reply::new(Sum { sum }, format!("the sum is {sum}")))
}

/// Adds two numbers as if that changed the world, so the start is on disk before it runs.
#[tool(
    slug = "add_write",
    name = "Add and write",
    category = "bench",
    icon = "plus",
    version = "1.0.0",
    level = "write"
)]
async fn add_write(_cx: ToolContext, terms: Terms) -> Result<Reply<Sum>, ToolFailure> {
    let sum = terms.a + terms.b;
    Ok(Reply::new(Sum { sum }, format!("the sum is {sum}")))
}

/// A customer's order, as a shop would send it.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Order {
    #[schemars(regex(pattern = "^[A-Z]{2}-[0-9]{6}$"))]
    number: String,
    customer: Customer,
    #[schemars(length(min = 1, max = 100))]
    lines: Vec<Line>,
    payment: Payment,
    #[schemars(length(max = 500))]
    note: Option<String>,
}

#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Customer {
    #[schemars(length(min = 1, max = 200))]
    name: String,
    #[schemars(length(max = 200))]
    email: String,
    billing: Address,
    shipping: Address,
}

#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Address {
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
struct Line {
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
enum Payment {
    Card { last_four: String, holder: String },
    Invoice { days: u32 },
}

#[derive(Debug, Serialize, JsonSchema)]
struct Confirmed {
    /// The order as it was understood.
    order: Order,
    #[schemars(range(min = 0))]
    total: f64,
    accepted: bool,
}

/// Takes an order and confirms it with its total.
#[tool(
    slug = "order",
    name = "Order",
    category = "bench",
    icon = "package",
    version = "1.0.0",
    level = "read"
)]
async fn order(_cx: ToolContext, order: Order) -> Result<Reply<Confirmed>, ToolFailure> {
    let total = order.lines.iter().map(|line| f64::from(line.quantity) * line.unit_price).sum();
    let summary = format!("order {} of {} lines", order.number, order.lines.len());
    Ok(Reply::new(Confirmed { order, total, accepted: true }, summary))
}
