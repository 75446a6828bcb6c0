use serde_json::{Value, json};
use toolwright_sdk::Code;

use super::*;

fn output(value: Value) -> Output {
    estimate(&serde_json::from_value(value).unwrap()).unwrap()
}

fn days(output: &Output) -> Vec<f64> {
    output.effort.iter().map(|case| case.days).collect()
}

/// Also in `docs/tools/complexity-estimator.md`. By hand: 12.5 + 10 + 3.75 + 11.25 + 7.5 + 5 + 1.25 =
/// 51.25; 20 days × 2.025 = 40.5; a tenth of it times 3 is 12.15.
#[test]
fn worked_example_of_the_manual_comes_out() {
    let output = output(json!({
        "scope": 3, "integrations": 4, "dataComplexity": 2, "novelty": 4, "uncertainty": 3, "compliance": 5,
        "teams": 2, "baseDays": 20,
    }));
    assert_eq!(
        serde_json::to_value(&output.summary).unwrap(),
        json!({
            // The multiplier is 2.025; the days (28.35 + 4 × 40.5 + 64.8) ÷ 6 = 42.525.
            "score": 51.25, "level": "high", "multiplier": 2.03, "expectedDays": 42.53, "mainDriver": "scope",
            "advice": "Try the main driver out first, then plan the rest in parts.",
        })
    );
    assert_eq!(days(&output), [28.35, 40.5, 42.53, 64.8]);
    let rows: Vec<_> = output
        .factors
        .iter()
        .map(|row| (row.factor.name(), row.rating, row.contribution, row.share_percent.unwrap()))
        .collect();
    let expected = [
        ("scope", 3.0, 12.5, 24.39),
        ("novelty", 4.0, 11.25, 21.95),
        ("integrations", 3.0, 10.0, 19.51),
        ("uncertainty", 3.0, 7.5, 14.63),
        ("compliance", 5.0, 5.0, 9.76),
        ("data complexity", 2.0, 3.75, 7.32),
        ("teams", 2.0, 1.25, 2.44),
    ];
    assert_eq!(rows, expected);
    assert_eq!(
        in_words(&output),
        "complexity 51.25 of 100 (high), 42.53 person-days expected (28.35 to 64.80); main driver: scope"
    );
}

#[test]
fn simplest_work_takes_its_base_days_and_has_no_driver() {
    let output = output(json!({ "scope": 1 }));
    assert_eq!((output.summary.score, output.summary.level), (0.0, Level::Low));
    assert_eq!(output.summary.main_driver, None);
    // 10 − 1, 10, (9 + 40 + 12) ÷ 6 = 10.1666…, 10 + 2
    assert_eq!(days(&output), [9.0, 10.0, 10.17, 12.0]);
    assert!(output.factors.iter().all(|row| row.share_percent.is_none()));
}

#[test]
fn most_complex_work_takes_three_times_the_base_days_and_perhaps_six_times() {
    let most = json!({
        "scope": 5, "integrations": 8, "dataComplexity": 5, "novelty": 5, "uncertainty": 5, "compliance": 5,
        "teams": 5, "baseDays": 10,
    });
    let output = output(most);
    assert_eq!((output.summary.score, output.summary.level), (100.0, Level::VeryHigh));
    // 30 − 15, 30, (15 + 120 + 60) ÷ 6, 30 + 30
    assert_eq!(days(&output), [15.0, 30.0, 32.5, 60.0]);
}

#[test]
fn more_systems_and_teams_than_the_scale_has_make_no_difference() {
    let score = |integrations: u32, teams: u32| {
        output(json!({ "scope": 1, "integrations": integrations, "teams": teams })).summary.score
    };
    assert_eq!((score(1, 1), score(7, 4)), (2.5, 21.25));
    assert_eq!((score(8, 5), score(1_000, 1_000)), (25.0, 25.0));
}

#[test]
fn level_changes_on_its_border() {
    let level = |scope: f64, data: f64, novelty: f64| {
        let rest = json!({ "scope": scope, "dataComplexity": data, "novelty": novelty, "integrations": 8 });
        output(rest).summary.level
    };
    assert_eq!(level(1.79, 1.0, 1.0), Level::Low); // 20 + 4.9375 = 24.9375, shown as 24.94
    assert_eq!(level(1.8, 1.0, 1.0), Level::Moderate); // 25
    assert_eq!(level(5.0, 2.0, 1.0), Level::Moderate); // 48.75
    assert_eq!(level(5.0, 1.0, 2.5), Level::High); // 50.625
    assert_eq!(level(5.0, 5.0, 5.0), Level::VeryHigh); // 75
}

#[test]
fn what_is_outside_the_scale_is_refused_by_name() {
    let refused = |key: &str, value: Value| {
        let mut input = json!({ "scope": 3 });
        input[key] = value;
        let failure = estimate(&serde_json::from_value(input).unwrap()).unwrap_err();
        assert_eq!(failure.code, Code::InvalidParams);
        failure.message
    };
    assert_eq!(refused("scope", json!(0)), "'scope' must be from 1 to 5, not 0");
    assert_eq!(refused("novelty", json!(5.01)), "'novelty' must be from 1 to 5, not 5.01");
    assert_eq!(refused("integrations", json!(1_001)), "'integrations' must be from 0 to 1000");
    assert_eq!(refused("teams", json!(0)), "'teams' must be from 1 to 1000");
    assert_eq!(refused("baseDays", json!(0)), "'baseDays' must be above 0 and at most 100000, not 0");
}
