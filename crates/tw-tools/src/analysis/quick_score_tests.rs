use serde_json::{Value, json};
use toolwright_sdk::Code;

use super::*;

fn ranked(input: Value) -> Result<Output, ToolFailure> {
    Sheet::new(&serde_json::from_value(input).unwrap())?.rank()
}

fn refused(input: Value) -> String {
    let failure = ranked(input).unwrap_err();
    assert_eq!(failure.code, Code::InvalidParams);
    failure.message
}

fn places(output: &Output) -> Vec<(usize, &str, f64)> {
    output.ranking.iter().map(|option| (option.rank, option.name.as_str(), option.score)).collect()
}

/// Also in `docs/tools/quick-score.md`. By hand, with the price turned around: Alpha (5 × 9 + 2 × 6 +
/// 3 × 2) ÷ 10 = 6.3, Beta (35 + 16 + 21) ÷ 10 = 7.2, Gamma (25 + 18 + 24) ÷ 10 = 6.7, of 10.
#[test]
fn worked_example_of_the_manual_comes_out() {
    let output = ranked(json!({
        "criteria": [
            { "name": "Fit", "weight": 5 },
            { "name": "Support", "weight": 2 },
            { "name": "Price", "weight": 3, "better": "lower" },
        ],
        "options": [
            { "name": "Alpha", "scores": [9, 6, 8] },
            { "name": "Beta", "scores": [7, 8, 3] },
            { "name": "Gamma", "scores": [5, 9, 2] },
        ],
    }))
    .unwrap();
    assert_eq!(places(&output), [(1, "Beta", 72.0), (2, "Gamma", 67.0), (3, "Alpha", 63.0)]);
    assert_eq!(
        serde_json::to_value(&output.summary).unwrap(),
        json!({
            // Without the fit: Beta 37 ÷ 5, Gamma 42 ÷ 5. Without the price: Alpha 57 ÷ 7, Beta 51 ÷ 7.
            // Without the support: Beta 56 ÷ 8, Alpha 51 ÷ 8, Gamma 49 ÷ 8.
            "optionCount": 3, "topOption": "Beta", "topScore": 72.0, "margin": 5.0,
            "decidedBy": ["Fit", "Price"],
        })
    );
    assert_eq!(
        serde_json::to_value(&output.breakdown[..3]).unwrap(),
        json!([
            { "option": "Beta", "criterion": "Fit", "weightPercent": 50.0, "given": 7.0, "adds": 35.0 },
            { "option": "Beta", "criterion": "Support", "weightPercent": 20.0, "given": 8.0, "adds": 16.0 },
            { "option": "Beta", "criterion": "Price", "weightPercent": 30.0, "given": 3.0, "adds": 21.0 },
        ])
    );
    assert_eq!(
        in_words(&output),
        "best: Beta with 72.00 of 100, 5.00 ahead of Gamma; decided by: Fit, Price"
    );
}

fn by_one(scores: &[(&str, f64)]) -> Value {
    let options: Vec<Value> =
        scores.iter().map(|(name, score)| json!({ "name": name, "scores": [score] })).collect();
    json!({ "criteria": [{ "name": "Taste" }], "options": options })
}

#[test]
fn equal_scores_share_a_rank_and_stand_by_name() {
    let output = ranked(by_one(&[("d", 1.0), ("b", 5.0), ("C", 5.0), ("a", 9.0)])).unwrap();
    assert_eq!(places(&output), [(1, "a", 90.0), (2, "b", 50.0), (2, "C", 50.0), (4, "d", 10.0)]);
}

#[test]
fn tie_at_the_top_has_no_margin() {
    let output = ranked(by_one(&[("b", 5.0), ("a", 5.0)])).unwrap();
    assert_eq!(output.summary.margin, Some(0.0));
    assert_eq!(in_words(&output), "best: a with 50.00 of 100, level with b");
}

#[test]
fn only_option_has_nothing_to_be_ahead_of() {
    let output = ranked(by_one(&[("a", 0.0)])).unwrap();
    assert_eq!((output.summary.top_score, output.summary.margin), (0.0, None));
    assert_eq!(in_words(&output), "best: a with 0.00 of 100");
}

#[test]
fn scores_on_another_scale_come_out_the_same() {
    let on = |scale: u32, scores: [f64; 2]| {
        ranked(json!({
            "criteria": [{ "name": "x", "weight": 1 }, { "name": "y", "weight": 2, "better": "lower" }],
            "options": [{ "name": "a", "scores": scores }], "scaleMax": scale,
        }))
        .unwrap()
        .summary
        .top_score
    };
    // (1 × 60 + 2 × 20) ÷ 3
    assert_eq!([on(5, [3.0, 4.0]), on(10, [6.0, 8.0]), on(100, [60.0, 80.0])], [33.33; 3]);
}

#[test]
fn criterion_without_weight_adds_nothing_and_decides_nothing() {
    let output = ranked(json!({
        "criteria": [{ "name": "x", "weight": 0.5 }, { "name": "y", "weight": 0 }],
        "options": [{ "name": "a", "scores": [5, 0] }, { "name": "b", "scores": [4, 10] }],
    }))
    .unwrap();
    assert_eq!(places(&output), [(1, "a", 50.0), (2, "b", 40.0)]);
    // Without x no weight is left, so x does not count as deciding either.
    assert_eq!(output.summary.decided_by, [""; 0]);
}

#[test]
fn order_of_the_options_does_not_matter() {
    let mut options: Vec<(String, f64)> = (0..=10_u32).map(|n| (format!("o{n}"), f64::from(n % 4))).collect();
    let ranked = |options: &[(String, f64)]| {
        let options: Vec<_> = options.iter().map(|(name, score)| (name.as_str(), *score)).collect();
        ranked(by_one(&options)).unwrap()
    };
    let forwards = ranked(&options);
    options.reverse();
    assert_eq!(ranked(&options), forwards);
}

#[test]
fn sheet_that_cannot_be_ranked_is_refused() {
    let sheet = |criteria: Value, options: Value| json!({ "criteria": criteria, "options": options });
    let x = json!([{ "name": "x" }]);
    let a = json!([{ "name": "a", "scores": [1] }]);
    assert_eq!(refused(sheet(json!([]), a.clone())), "'criteria' must have 1 to 20 entries");
    assert_eq!(refused(sheet(x.clone(), json!([]))), "'options' must have 1 to 50 entries");
    let weightless = json!([{ "name": "x", "weight": 0 }]);
    assert_eq!(refused(sheet(weightless, a)), "at least one criterion needs a weight above 0");
    let short = json!([{ "name": "a", "scores": [1] }]);
    assert_eq!(
        refused(sheet(json!([{ "name": "x" }, { "name": "y" }]), short)),
        "'a' has 1 score; it needs 2, one per criterion"
    );
    let high = json!([{ "name": "a", "scores": [10.5] }]);
    assert_eq!(refused(sheet(x.clone(), high)), "'a: x' must be from 0 to 10, not 10.5");
    let twice = json!([{ "name": "a", "scores": [1] }, { "name": "A", "scores": [2] }]);
    assert_eq!(refused(sheet(x.clone(), twice)), "'A' is the name of more than one option");
    let scale = json!({ "criteria": x, "options": [{ "name": "a", "scores": [0] }], "scaleMax": 0 });
    assert_eq!(refused(scale), "'scaleMax' must be from 1 to 100");
}

#[test]
fn tiny_weights_never_panic() {
    let output = ranked(json!({
        "criteria": [{ "name": "x", "weight": 1e-28 }, { "name": "y", "weight": 1e-300 }],
        "options": [{ "name": "a", "scores": [10, 1e-28] }],
    }))
    .unwrap();
    assert_eq!(output.summary.top_score, 100.0);
}
