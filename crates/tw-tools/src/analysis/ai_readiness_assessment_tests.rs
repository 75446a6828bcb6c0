use serde_json::{Value, json};
use toolwright_sdk::Code;

use super::*;

const NAMES: [&str; 7] = ["strategy", "data", "technology", "skills", "processes", "governance", "culture"];

/// Ratings in the order of [`NAMES`].
fn ratings(ratings: [f64; 7]) -> Value {
    NAMES.iter().map(|name| (*name).to_owned()).zip(ratings.map(Value::from)).collect()
}

fn output(value: Value) -> Output {
    assess(&serde_json::from_value(value).unwrap()).unwrap()
}

/// Also in `docs/tools/ai-readiness-assessment.md`. By hand: scores 75, 25, 50, 50, 75, 12.5, 75 with
/// the weights 1, 2, 1, 1, 1, 3, 1 are 412.5 points of 10 weights.
#[test]
fn worked_example_of_the_manual_comes_out() {
    let mut input = ratings([4.0, 2.0, 3.0, 3.0, 4.0, 1.5, 4.0]);
    input["focus"] = json!("regulated");
    let output = output(input);
    assert_eq!(
        serde_json::to_value(&output.summary).unwrap(),
        json!({
            "overallScore": 41.25, "level": "developing", "strongest": "strategy", "weakest": "governance",
            "blockers": ["governance"], "belowTarget": 4,
        })
    );
    let scores: Vec<f64> = output.radar.iter().map(|corner| corner.score).collect();
    assert_eq!(scores, [75.0, 25.0, 50.0, 50.0, 75.0, 12.5, 75.0]);
    assert!(output.radar.iter().all(|corner| corner.target == 75.0));
    // Weighted gaps: governance 3 × 2.5, data 2 × 2, technology and skills 1 each.
    let order: Vec<_> = output.priorities.iter().map(|row| (row.dimension.name(), row.gap)).collect();
    let expected = [
        ("governance", 2.5),
        ("data", 2.0),
        ("technology", 1.0),
        ("skills", 1.0),
        ("strategy", 0.0),
        ("processes", 0.0),
        ("culture", 0.0),
    ];
    assert_eq!(order, expected);
    assert_eq!(output.priorities[4].next_step, "Keep it up.");
    assert_eq!(
        in_words(&output.summary),
        "readiness 41.25 of 100 (developing); weakest: governance; blocked by: governance"
    );
}

#[test]
fn balanced_score_is_the_plain_mean_and_rounded_once() {
    // 50 + 50 + 75 + 25 + 50 + 25 + 50 = 325; 325 ÷ 7 = 46.428…
    let output = output(ratings([3.0, 3.0, 4.0, 2.0, 3.0, 2.0, 3.0]));
    assert_eq!(output.summary.overall_score, 46.43);
    assert_eq!(output.summary.level, Level::Developing);
    assert_eq!(output.summary.strongest, Dimension::Technology);
    assert_eq!(output.summary.weakest, Dimension::Skills);
    assert_eq!(output.summary.blockers, []);
}

#[test]
fn focus_on_scale_counts_three_dimensions_twice() {
    let mut input = ratings([1.0, 5.0, 5.0, 1.0, 5.0, 1.0, 1.0]);
    assert_eq!(output(input.clone()).summary.overall_score, 42.86); // 300 ÷ 7
    input["focus"] = json!("scale");
    assert_eq!(output(input).summary.overall_score, 60.0); // 600 ÷ 10
}

#[test]
fn ends_of_the_scale_are_0_and_100() {
    let lowest = output(ratings([1.0; 7]));
    assert_eq!((lowest.summary.overall_score, lowest.summary.level), (0.0, Level::Beginning));
    assert_eq!(lowest.summary.blockers.len(), 7);
    let highest = output(ratings([5.0; 7]));
    assert_eq!((highest.summary.overall_score, highest.summary.level), (100.0, Level::Leading));
    assert_eq!(highest.summary.below_target, 0);
}

#[test]
fn level_changes_on_its_border() {
    let level = |rating: f64| output(ratings([rating; 7])).summary.level;
    assert_eq!([2.0, 2.99, 3.0, 3.99, 4.0].map(level), {
        use Level::{Developing, Leading, Ready};
        [Developing, Developing, Ready, Ready, Leading]
    });
}

#[test]
fn one_blocker_holds_the_level_down_and_not_the_score() {
    let output = output(ratings([5.0, 1.9, 5.0, 5.0, 5.0, 5.0, 5.0]));
    // 6 × 100 + 22.5 = 622.5; ÷ 7 = 88.928…
    assert_eq!(output.summary.overall_score, 88.93);
    assert_eq!(output.summary.level, Level::Developing);
    assert_eq!(output.summary.blockers, [Dimension::Data]);
}

#[test]
fn rating_outside_the_scale_or_missing_is_refused() {
    let refused = |rating: f64| {
        let mut input = ratings([3.0; 7]);
        input["governance"] = json!(rating);
        let failure = assess(&serde_json::from_value(input).unwrap()).unwrap_err();
        assert_eq!(failure.code, Code::InvalidParams);
        failure.message
    };
    assert_eq!(refused(0.0), "'governance' must be from 1 to 5, not 0");
    assert_eq!(refused(5.5), "'governance' must be from 1 to 5, not 5.5");
    let mut input = ratings([3.0; 7]);
    input.as_object_mut().unwrap().remove("culture");
    assert!(serde_json::from_value::<Input>(input).is_err());
}
