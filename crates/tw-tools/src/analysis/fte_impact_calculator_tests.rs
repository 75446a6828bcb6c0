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

/// Also in `docs/tools/fte-impact-calculator.md`. By hand: 12 × 50 % = 6 positions, 40 % × 75 % = 30 %
/// of them are freed; the work grows to 6.6 and 7.26.
#[test]
fn worked_example_of_the_manual_comes_out() {
    let output = output(json!({
        "headcount": 12, "shareOfTime": 50, "reduction": 40, "usableShare": 75, "volumeGrowth": 10, "years": 3,
        "annualCostPerFte": 60_000, "currency": "EUR",
    }));
    assert_eq!(
        serde_json::to_value(&output.summary).unwrap(),
        json!({
            // 1.8 × 1840 hours; 1.8 of 12; 7.26 × 0.7 − 6 = −0.918; (1.8 + 1.98 + 2.178) × 60000
            "fteToday": 6.0, "fteFreed": 1.8, "wholePositionsFreed": 1, "hoursFreed": 3_312.0,
            "capacityFreedPercent": 15.0, "fteChange": -0.92, "totalValue": 357_480.0,
        })
    );
    let rows: Vec<_> = output
        .yearly_results
        .iter()
        .map(|row| [row.fte_without, row.fte_with, row.fte_freed, row.hours_freed, row.value])
        .collect();
    let expected = [
        [6.0, 4.2, 1.8, 3_312.0, 108_000.0],
        [6.6, 4.62, 1.98, 3_643.2, 118_800.0],
        [7.26, 5.08, 2.18, 4_007.52, 130_680.0],
    ];
    assert_eq!(rows, expected);
    assert_eq!(output.staffing[2], Point { year: 3, fte_without: 7.26, fte_with: 5.08 });
    assert_eq!(
        in_words(&output),
        "1.80 of 6.00 FTE freed (3,312.00 hours per year), worth 357,480.00 EUR in 3 years; \
         -0.92 FTE against today by the last year"
    );
}

#[test]
fn everything_else_has_a_default() {
    // 5 × 30 % = 1.5, every year the same
    let output = output(json!({ "headcount": 5, "reduction": 30 }));
    assert_eq!((output.summary.fte_freed, output.summary.hours_freed), (1.5, 2_760.0));
    assert_eq!((output.summary.fte_change, output.summary.total_value), (-1.5, 0.0));
    assert_eq!(output.yearly_results.len(), 3);
}

#[test]
fn growth_can_use_up_what_was_freed() {
    // 10 × 2 = 20 in year 2, of which 40 % are freed: 12 are needed, 2 more than today
    let output = output(json!({ "headcount": 10, "reduction": 40, "volumeGrowth": 100, "years": 2 }));
    assert_eq!(output.summary.fte_change, 2.0);
    assert!(in_words(&output).ends_with("; +2.00 FTE against today by the last year"));
}

#[test]
fn whole_positions_are_rounded_down() {
    let whole = |reduction: f64| {
        output(json!({ "headcount": 10, "reduction": reduction })).summary.whole_positions_freed
    };
    assert_eq!([0.0, 9.99, 10.0, 19.9, 100.0].map(whole), [0, 0, 1, 1, 10]);
}

#[test]
fn work_that_ends_needs_nobody_from_the_second_year_on() {
    let output = output(json!({ "headcount": 4, "reduction": 50, "volumeGrowth": -100, "years": 2 }));
    assert_eq!(output.yearly_results[1].fte_without, 0.0);
    assert_eq!(output.summary.fte_change, -4.0);
}

#[test]
fn share_of_nothing_frees_nothing() {
    let output = output(json!({ "headcount": 4, "shareOfTime": 0, "reduction": 50 }));
    assert_eq!((output.summary.fte_today, output.summary.fte_freed), (0.0, 0.0));
    assert_eq!(output.summary.capacity_freed_percent, Some(0.0));
}

#[test]
fn what_makes_no_sense_is_refused_by_name() {
    let with = |key: &str, value: Value| {
        let mut input = json!({ "headcount": 5, "reduction": 30 });
        input[key] = value;
        refused(input)
    };
    assert_eq!(with("headcount", json!(0)), "'headcount' must be above 0 and at most 1000000, not 0");
    assert_eq!(with("reduction", json!(100.5)), "'reduction' must be from 0 to 100, not 100.5");
    assert_eq!(with("years", json!(11)), "'years' must be from 1 to 10");
    assert_eq!(with("hoursPerFte", json!(-1)), "'hoursPerFte' must be above 0 and at most 8784, not -1");
}

#[test]
fn largest_input_is_refused_and_never_panics() {
    let most = json!({
        "headcount": 1_000_000, "reduction": 100, "volumeGrowth": 100, "years": 10,
        "annualCostPerFte": 100_000_000, "hoursPerFte": 8_784,
    });
    assert!(refused(most).starts_with("the result is too large"));
}
