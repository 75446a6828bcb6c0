//! The tools that the goals name: `add`, the same with an effect, and `order`.

use toolwright_sdk::{Reply, ToolContext, ToolFailure, tool};

use crate::work::{self, Confirmed, Order, Sum, Terms};

/// Adds two numbers.
#[tool(
    slug = "add",
    name = "Add",
    category = "bench",
    icon = "plus",
    version = "1.0.0",
    level = "read",
    pure
)]
async fn add(_cx: ToolContext, terms: Terms) -> Result<Reply<Sum>, ToolFailure> {
    let sum = work::add(terms);
    let summary = format!("the sum is {}", sum.sum);
    Ok(Reply::new(sum, summary))
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
    let sum = work::add(terms);
    let summary = format!("the sum is {}", sum.sum);
    Ok(Reply::new(sum, summary))
}

/// Takes an order and confirms it with its total.
#[tool(
    slug = "order",
    name = "Order",
    category = "bench",
    icon = "package",
    version = "1.0.0",
    level = "read",
    pure
)]
async fn order(_cx: ToolContext, order: Order) -> Result<Reply<Confirmed>, ToolFailure> {
    let summary = format!("order {} of {} lines", order.number, order.lines.len());
    Ok(Reply::new(work::confirm(order), summary))
}
