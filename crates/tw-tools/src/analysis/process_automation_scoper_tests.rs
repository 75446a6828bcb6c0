use serde_json::{Value, json};
use toolwright_sdk::Code;

use super::*;

fn output(value: Value) -> Output {
    scope(&serde_json::from_value(value).unwrap()).unwrap()
}

fn refused(value: Value) -> String {
    let failure = scope(&serde_json::from_value(value).unwrap()).unwrap_err();
    assert_eq!(failure.code, Code::InvalidParams);
    failure.message
}

fn step(name: &str, minutes: f64, rules: f64) -> Value {
    json!({ "name": name, "minutes": minutes, "rules": rules, "data": "structured" })
}

/// Also in `docs/tools/process-automation-scoper.md`. By hand: scores 40 + 30 + 28.5, 30 + 15 + 24,
/// 10 + 0 + 12 and 40 + 30 + 30; freed are 6 × 0.95 = 5.7 and 4 × 0.8 ÷ 2 = 1.6 of 22 minutes.
#[test]
fn worked_example_of_the_manual_comes_out() {
    let output = output(json!({
        "steps": [
            { "name": "Enter the invoice", "minutes": 6, "rules": 5, "data": "structured", "exceptionRate": 5 },
            { "name": "Match it with the order", "minutes": 4, "rules": 4, "data": "mixed", "exceptionRate": 20 },
            { "name": "Settle differences", "minutes": 10, "rules": 2, "data": "unstructured", "exceptionRate": 60 },
            { "name": "Approve the payment", "minutes": 2, "rules": 5, "data": "structured", "keepManual": true },
        ],
        "runsPerMonth": 600, "hourlyCost": 40, "currency": "EUR",
    }));
    assert_eq!(
        serde_json::to_value(&output.summary).unwrap(),
        json!({
            // (6 × 98.5 + 4 × 69 + 10 × 22 + 2 × 100) ÷ 22 = 1287 ÷ 22; 7.3 × 600 ÷ 60; 73 × 12 × 40
            "suitability": 58.5, "freedPercent": 33.18, "hoursFreedPerMonth": 73.0, "valuePerYear": 35_040.0,
            "automate": 1, "assist": 1, "manual": 2,
        })
    );
    let steps: Vec<_> = output.steps.iter().map(|step| (step.score, step.mode, step.minutes_after)).collect();
    let expected = [
        (98.5, Mode::Automate, 0.3),
        (69.0, Mode::Assist, 2.4),
        (22.0, Mode::Manual, 10.0),
        (100.0, Mode::Manual, 2.0),
    ];
    assert_eq!(steps, expected);
    assert_eq!(
        serde_json::to_value(&output.candidates).unwrap(),
        json!([
            { "rank": 1, "name": "Enter the invoice", "mode": "automate", "hoursFreedPerMonth": 57.0,
              "sharePercent": 78.08 },
            { "rank": 2, "name": "Match it with the order", "mode": "assist", "hoursFreedPerMonth": 16.0,
              "sharePercent": 21.92 },
        ])
    );
    assert_eq!(
        in_words(&output),
        "73.00 hours freed per month (33.18 % of the work), worth 35,040.00 EUR per year; \
         1 to automate, 1 to assist, 2 manual; begin with: Enter the invoice"
    );
}

#[test]
fn step_on_a_border_belongs_above_it() {
    let mode = |automate: f64, assist: f64| {
        // 20 + 30 + 30 = 80
        let input = json!({
            "steps": [step("a", 1.0, 3.0)], "runsPerMonth": 1, "automateFrom": automate, "assistFrom": assist,
        });
        output(input).steps[0].mode
    };
    assert_eq!(mode(80.0, 40.0), Mode::Automate);
    assert_eq!(mode(80.01, 80.0), Mode::Assist);
    assert_eq!(mode(100.0, 80.01), Mode::Manual);
    assert_eq!(mode(80.0, 80.0), Mode::Automate);
}

#[test]
fn process_that_has_to_stay_as_it_is_frees_nothing() {
    let output = output(json!({
        "steps": [{ "name": "Talk", "minutes": 30, "rules": 1, "data": "unstructured", "exceptionRate": 100 }],
        "runsPerMonth": 10,
    }));
    assert_eq!(output.summary.suitability, 0.0);
    assert_eq!(output.summary.freed_percent, Some(0.0));
    assert_eq!(output.candidates, []);
    assert_eq!(
        in_words(&output),
        "0.00 hours freed per month (0.00 % of the work); 0 to automate, 0 to assist, 1 manual"
    );
}

#[test]
fn step_that_is_always_an_exception_is_no_candidate_even_if_it_may_be_automated() {
    // 40 + 30 + 0 = 70
    let output = output(json!({
        "steps": [{ "name": "a", "minutes": 5, "rules": 5, "data": "structured", "exceptionRate": 100 }],
        "runsPerMonth": 10,
    }));
    assert_eq!(output.steps[0].mode, Mode::Automate);
    assert_eq!(output.candidates, []);
}

#[test]
fn of_equal_candidates_the_better_suited_comes_first_then_the_earlier() {
    let output = output(json!({
        "steps": [step("low", 5.0, 4.0), step("first", 5.0, 5.0), step("second", 5.0, 5.0)], "runsPerMonth": 1,
    }));
    let names: Vec<_> = output.candidates.iter().map(|candidate| candidate.name.as_str()).collect();
    assert_eq!(names, ["first", "second", "low"]);
    let share = output.candidates[0].share_percent;
    assert_eq!(share, Some(33.33));
}

#[test]
fn what_cannot_be_scoped_is_refused() {
    let with = |steps: Value| json!({ "steps": steps, "runsPerMonth": 1 });
    assert_eq!(refused(with(json!([]))), "'steps' must have 1 to 100 entries");
    let many: Vec<Value> = (0..101).map(|n| step(&n.to_string(), 1.0, 1.0)).collect();
    assert_eq!(refused(with(json!(many))), "'steps' must have 1 to 100 entries");
    let twice = json!([step("Sort", 1.0, 1.0), step("sort ", 1.0, 1.0)]);
    assert_eq!(refused(with(twice)), "'sort' is the name of more than one step");
    let nothing = json!([step("a", 0.0, 1.0)]);
    assert_eq!(refused(with(nothing)), "'minutes' must be above 0 and at most 10080, not 0");
    let never = json!({ "steps": [step("a", 1.0, 1.0)], "runsPerMonth": 0 });
    assert_eq!(refused(never), "'runsPerMonth' must be above 0 and at most 10000000, not 0");
    let crossed =
        json!({ "steps": [step("a", 1.0, 1.0)], "runsPerMonth": 1, "automateFrom": 30, "assistFrom": 40 });
    assert_eq!(refused(crossed), "'automateFrom' must not be below 'assistFrom'");
}

#[test]
fn largest_input_is_calculated_or_refused_but_never_panics() {
    let steps: Vec<Value> = (0..100).map(|n| step(&n.to_string(), 10_080.0, 5.0)).collect();
    let most = json!({ "steps": steps, "runsPerMonth": 10_000_000, "hourlyCost": 1_000_000 });
    assert!(refused(most).starts_with("the result is too large"));
    let least = output(json!({ "steps": [step("a", 1e-28, 5.0)], "runsPerMonth": 1e-28 }));
    assert_eq!(least.summary.hours_freed_per_month, 0.0);
}
