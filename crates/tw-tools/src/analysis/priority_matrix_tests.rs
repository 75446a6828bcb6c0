use serde_json::json;
use toolwright_sdk::Code;

use super::*;

fn ranked(input: Value) -> Result<Output, ToolFailure> {
    rank(Board::new(&serde_json::from_value(input).unwrap())?)
}

fn refused(input: Value) -> String {
    let failure = ranked(input).unwrap_err();
    assert_eq!(failure.code, Code::InvalidParams);
    failure.message
}

fn names(output: &Output) -> Vec<&str> {
    output.ranking.iter().map(|item| item.name.as_str()).collect()
}

fn item(name: &str, impact: f64, effort: f64) -> Value {
    json!({ "name": name, "impact": impact, "effort": effort })
}

/// Also in `docs/tools/priority-matrix.md`.
#[test]
fn worked_example_of_the_manual_comes_out() {
    let output = ranked(json!({ "items": [
        { "name": "Self-service password reset", "impact": 8, "effort": 3 },
        { "name": "New billing system", "impact": 9, "effort": 9, "confidence": 60 },
        { "name": "Dark mode", "impact": 3, "effort": 2 },
        { "name": "Rewrite the reports", "impact": 4, "effort": 8, "confidence": 50 },
    ]}));
    assert_eq!(
        serde_json::to_value(output.unwrap()).unwrap(),
        json!({
            "summary": {
                "itemCount": 4, "topItem": "Self-service password reset",
                "quickWins": 1, "majorProjects": 1, "fillIns": 1, "thankless": 1,
            },
            "ranking": [
                { "rank": 1, "name": "Self-service password reset", "impact": 8.0, "effort": 3.0,
                  "confidence": 100.0, "score": 2.67, "quadrant": "quick-wins" },
                { "rank": 2, "name": "Dark mode", "impact": 3.0, "effort": 2.0,
                  "confidence": 100.0, "score": 1.5, "quadrant": "fill-ins" },
                { "rank": 3, "name": "New billing system", "impact": 9.0, "effort": 9.0,
                  "confidence": 60.0, "score": 0.6, "quadrant": "major-projects" },
                { "rank": 4, "name": "Rewrite the reports", "impact": 4.0, "effort": 8.0,
                  "confidence": 50.0, "score": 0.25, "quadrant": "thankless" },
            ],
            "quadrants": {
                "quick-wins": ["Self-service password reset"], "major-projects": ["New billing system"],
                "fill-ins": ["Dark mode"], "thankless": ["Rewrite the reports"],
            },
        })
    );
}

#[test]
fn equal_scores_are_settled_by_impact_then_name() {
    let output = ranked(json!({ "items": [
        item("b", 4.0, 2.0), item("C", 8.0, 4.0), item("a", 4.0, 2.0), item("d", 8.0, 4.0),
    ]}));
    assert_eq!(names(&output.unwrap()), ["C", "d", "a", "b"]);
}

#[test]
fn equal_scores_and_impacts_are_settled_by_the_lower_effort() {
    // 8 × 50 % / 2 = 8 × 100 % / 4
    let output = ranked(json!({ "items": [
        item("sure", 8.0, 4.0),
        { "name": "quick", "impact": 8, "effort": 2, "confidence": 50 },
    ]}));
    assert_eq!(names(&output.unwrap()), ["quick", "sure"]);
}

#[test]
fn order_of_the_input_does_not_matter() {
    let mut items: Vec<Value> =
        (1..=9).map(|n| item(&format!("item {n}"), f64::from(n), f64::from(10 - n))).collect();
    let forwards = ranked(json!({ "items": items })).unwrap();
    items.reverse();
    assert_eq!(ranked(json!({ "items": items })).unwrap(), forwards);
}

#[test]
fn item_on_the_threshold_counts_as_high() {
    let quadrant = |impact: f64, effort: f64| {
        let input =
            json!({ "items": [item("a", impact, effort)], "impactThreshold": 7, "effortThreshold": 4 });
        ranked(input).unwrap().ranking[0].quadrant
    };
    assert_eq!(quadrant(7.0, 4.0), Quadrant::MajorProjects);
    assert_eq!(quadrant(7.0, 3.99), Quadrant::QuickWins);
    assert_eq!(quadrant(6.99, 3.99), Quadrant::FillIns);
    assert_eq!(quadrant(6.99, 4.0), Quadrant::Thankless);
}

#[test]
fn no_confidence_at_all_is_a_score_of_zero() {
    let output =
        ranked(json!({ "items": [{ "name": "a", "impact": 10, "effort": 1, "confidence": 0 }] })).unwrap();
    assert_eq!(output.ranking[0].score, 0.0);
    assert_eq!(in_words(&output.summary), "1 item, 1 quick win; first: a");
}

#[test]
fn list_that_cannot_be_ranked_is_refused() {
    assert_eq!(refused(json!({ "items": [] })), "'items' must have 1 to 200 entries");
    let many: Vec<Value> = (0..201).map(|n| item(&n.to_string(), 1.0, 1.0)).collect();
    assert_eq!(refused(json!({ "items": many })), "'items' must have 1 to 200 entries");
    let twice = json!({ "items": [item("Dark mode", 1.0, 1.0), item(" dark MODE ", 2.0, 2.0)] });
    assert_eq!(refused(twice), "two items are named 'dark MODE'");
    assert_eq!(refused(json!({ "items": [item("  ", 1.0, 1.0)] })), "every item needs a name");
    let effortless = json!({ "items": [item("a", 1.0, 0.0)] });
    assert_eq!(refused(effortless), "'effort' must be from 1 to 10, not 0");
}

fn submission(input: Value) -> Submission {
    Submission { input, output: Value::Null }
}

#[test]
fn submissions_are_averaged_per_item_and_ranked_again() {
    let combined = combine(vec![
        submission(json!({ "items": [item("Dark mode", 2.0, 3.0), item("Billing", 9.0, 9.0)] })),
        submission(json!({ "items": [item("dark mode ", 9.0, 2.0), item("Search", 5.0, 5.0)] })),
        submission(json!({ "items": [{ "name": "Dark Mode", "impact": 9, "effort": 2, "confidence": 50 }] })),
    ])
    .unwrap();
    // Dark mode: impact 20/3, effort 7/3, confidence 250/3; score 6.67 × 83.33 % / 2.33.
    assert_eq!(
        combined["ranking"],
        json!([
            { "rank": 1, "name": "Dark mode", "impact": 6.67, "effort": 2.33, "confidence": 83.33,
              "score": 2.39, "quadrant": "quick-wins" },
            { "rank": 2, "name": "Billing", "impact": 9.0, "effort": 9.0, "confidence": 100.0,
              "score": 1.0, "quadrant": "major-projects" },
            { "rank": 3, "name": "Search", "impact": 5.0, "effort": 5.0, "confidence": 100.0,
              "score": 1.0, "quadrant": "fill-ins" },
        ])
    );
    assert_eq!(combined["summary"]["itemCount"], json!(3));
}

#[test]
fn one_submission_combines_to_itself() {
    let input = json!({ "items": [item("a", 8.0, 3.0), item("b", 2.5, 9.0)], "impactThreshold": 3 });
    let alone = serde_json::to_value(ranked(input.clone()).unwrap()).unwrap();
    assert_eq!(combine(vec![submission(input)]), Ok(alone));
}

#[test]
fn thresholds_that_differ_are_averaged() {
    let board =
        |threshold: f64| submission(json!({ "items": [item("a", 6.0, 1.0)], "impactThreshold": threshold }));
    let quadrant = |boards| combine(boards).unwrap()["ranking"][0]["quadrant"].clone();
    assert_eq!(quadrant(vec![board(5.0), board(8.0)]), json!("fill-ins"));
    assert_eq!(quadrant(vec![board(5.0), board(7.0)]), json!("quick-wins"));
}

#[test]
fn nothing_cannot_be_combined() {
    let failure = combine(Vec::new()).unwrap_err();
    assert_eq!(failure.message, "there are no submissions to combine");
    let failure = combine(vec![submission(json!({ "items": "all" }))]).unwrap_err();
    assert!(failure.message.starts_with("a submission cannot be read:"), "{failure}");
}
