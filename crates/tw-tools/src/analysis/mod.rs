//! Tools that compare and decide.

mod priority_matrix;
mod roi_calculator;
mod time_savings_calculator;
