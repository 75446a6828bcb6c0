use serde_json::{Value, json};
use toolwright_sdk::Code;

use super::*;

fn output(value: Value) -> Output {
    calculate(&serde_json::from_value(value).unwrap()).unwrap()
}

fn refused(value: Value) -> String {
    let failure = calculate(&serde_json::from_value(value).unwrap()).unwrap_err();
    assert_eq!(failure.code, Code::InvalidParams);
    failure.message
}

/// Also in `docs/tools/time-savings-calculator.md`. By hand: 10 runs × 46 weeks × 4 people = 1840
/// runs; 75 % of them save 18 minutes each, 1380 × 18 ÷ 60 = 414 hours.
fn worked_example() -> Output {
    output(json!({
        "minutesBefore": 30, "minutesAfter": 12, "runs": 10, "per": "week", "people": 4, "adoptionRate": 75,
        "setupHours": 60, "hourlyCost": 50, "currency": "EUR",
    }))
}

#[test]
fn worked_example_of_the_manual_comes_out() {
    let output = worked_example();
    assert_eq!(
        serde_json::to_value(&output.summary).unwrap(),
        json!({
            // 414 of 920 hours; 414 ÷ (40 × 46); 414 − 60; 60 ÷ (414 ÷ 46 = 9 a week)
            "hoursSavedPerYear": 414.0, "savedPercent": 45.0, "fteEquivalent": 0.23, "valuePerYear": 20_700.0,
            "netHoursFirstYear": 354.0, "breakEvenWeeks": 6.67, "runsPerYear": 1_840.0,
        })
    );
    assert_eq!(
        serde_json::to_value(&output.by_period).unwrap(),
        json!([
            { "period": "day", "hoursBefore": 4.0, "hoursAfter": 2.2, "hoursSaved": 1.8, "value": 90.0 },
            { "period": "week", "hoursBefore": 20.0, "hoursAfter": 11.0, "hoursSaved": 9.0, "value": 450.0 },
            { "period": "month", "hoursBefore": 76.67, "hoursAfter": 42.17, "hoursSaved": 34.5, "value": 1_725.0 },
            { "period": "year", "hoursBefore": 920.0, "hoursAfter": 506.0, "hoursSaved": 414.0, "value": 20_700.0 },
        ])
    );
    let net: Vec<f64> = output.cumulative.iter().map(|point| point.net_hours_saved).collect();
    assert_eq!((net[0], net[1], net[2], net[12]), (-60.0, -25.5, 9.0, 354.0));
    assert_eq!(
        in_words(&output),
        "414.00 hours saved per year (0.23 FTE), worth 20,700.00 EUR, setup regained after 6.67 weeks"
    );
}

#[test]
fn runs_of_every_period_are_brought_to_a_year() {
    let runs = |per: &str| {
        let value =
            json!({ "minutesBefore": 60, "runs": 2, "per": per, "weeksPerYear": 40, "daysPerWeek": 4 });
        output(value).summary.runs_per_year
    };
    assert_eq!(["day", "week", "month", "year"].map(runs), [320.0, 80.0, 24.0, 2.0]);
}

#[test]
fn everything_else_has_a_default() {
    // 3 a day × 5 × 46 = 690 runs of 15 minutes = 172.5 hours, all of them saved.
    let output = output(json!({ "minutesBefore": 15, "runs": 3, "per": "day" }));
    assert_eq!(output.summary.hours_saved_per_year, 172.5);
    assert_eq!(output.summary.saved_percent, Some(100.0));
    assert_eq!(output.summary.break_even_weeks, Some(0.0));
    assert_eq!(in_words(&output), "172.50 hours saved per year (0.09 FTE)");
}

#[test]
fn slower_way_costs_time_and_its_setup_is_never_regained() {
    // 12 runs × 5 minutes = 1 hour
    let output = output(json!({
        "minutesBefore": 10, "minutesAfter": 15, "runs": 1, "per": "month", "setupHours": 2,
    }));
    assert_eq!(output.summary.hours_saved_per_year, -1.0);
    assert_eq!(output.summary.saved_percent, Some(-50.0));
    assert_eq!(output.summary.net_hours_first_year, -3.0);
    assert_eq!(output.summary.break_even_weeks, None);
    assert_eq!(in_words(&output), "-1.00 hours saved per year (0.00 FTE), setup never regained");
}

#[test]
fn task_that_is_never_done_saves_nothing() {
    let output = output(json!({ "minutesBefore": 10, "runs": 0 }));
    assert_eq!(output.summary.hours_saved_per_year, 0.0);
    assert_eq!(output.summary.saved_percent, None);
}

#[test]
fn what_makes_no_sense_is_refused_by_name() {
    let with = |key: &str, value: Value| {
        let mut input = json!({ "minutesBefore": 10, "runs": 1 });
        input[key] = value;
        refused(input)
    };
    assert_eq!(with("minutesBefore", json!(0)), "'minutesBefore' must be above 0 and at most 10080, not 0");
    assert_eq!(with("adoptionRate", json!(101)), "'adoptionRate' must be from 0 to 100, not 101");
    assert_eq!(with("people", json!(0)), "'people' must be from 1 to 1000000");
    assert_eq!(with("weeksPerYear", json!(53)), "'weeksPerYear' must be above 0 and at most 52, not 53");
}

#[test]
fn result_that_cannot_be_given_to_two_decimals_is_refused() {
    let most = json!({
        "minutesBefore": 10_080, "runs": 1_000_000, "per": "day", "people": 1_000_000, "hourlyCost": 1_000_000,
        "weeksPerYear": 52, "daysPerWeek": 7,
    });
    assert!(refused(most).starts_with("the result is too large"));
    let tiny = json!({ "minutesBefore": 1e-28, "minutesAfter": 10_080, "runs": 1 });
    assert!(refused(tiny).starts_with("the result is too large"));
}
