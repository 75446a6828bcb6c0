//! Tools that compare and decide.

mod priority_matrix;
mod roi_calculator;
