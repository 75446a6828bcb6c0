//! Tools that compare and decide.

mod ai_readiness_assessment;
mod complexity_estimator;
mod fte_impact_calculator;
mod priority_matrix;
mod process_automation_scoper;
mod quick_score;
mod roi_calculator;
mod time_savings_calculator;
