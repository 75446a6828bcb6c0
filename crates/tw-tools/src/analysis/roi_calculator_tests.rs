//! The expected numbers were calculated apart from this code, with 60 decimal digits.

use serde_json::{Value, json};

use super::*;

fn input(value: Value) -> Input {
    serde_json::from_value(value).unwrap()
}

fn output(value: Value) -> Value {
    serde_json::to_value(calculate(&input(value)).unwrap()).unwrap()
}

/// Also in `docs/tools/roi-calculator.md`.
fn worked_example() -> Value {
    output(json!({
        "initialInvestment": 100_000, "annualBenefit": 50_000, "annualCost": 10_000, "years": 4,
        "discountRate": 10, "benefitGrowthRate": 5, "currency": "EUR",
    }))
}

#[test]
fn worked_example_of_the_manual_comes_out_to_the_cent() {
    let output = worked_example();
    assert_eq!(
        output["summary"],
        json!({
            "npv": 38_094.22, "roiPercent": 53.93, "paybackPeriodYears": 2.39,
            "discountedPaybackPeriodYears": 2.84, "totalBenefit": 215_506.25, "totalCost": 140_000.0,
            "netBenefit": 75_506.25,
        })
    );
    let rows: Vec<Vec<f64>> = output["yearlyResults"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row.as_object().unwrap().values().map(|cell| cell.as_f64().unwrap()).collect())
        .collect();
    let expected = [
        [1.0, 50_000.0, 10_000.0, 40_000.0, -60_000.0, 36_363.64, -63_636.36, -54.55],
        [2.0, 52_500.0, 10_000.0, 42_500.0, -17_500.0, 35_123.97, -28_512.40, -14.58],
        [3.0, 55_125.0, 10_000.0, 45_125.0, 27_625.0, 33_903.08, 5_390.68, 21.25],
        [4.0, 57_881.25, 10_000.0, 47_881.25, 75_506.25, 32_703.54, 38_094.22, 53.93],
    ];
    assert_eq!(rows, expected);
}

#[test]
fn chart_starts_with_the_investment_in_year_zero() {
    let points = &worked_example()["cumulativeCashFlow"];
    let first = json!({ "year": 0, "cumulativeCashFlow": -100_000.0, "cumulativePresentValue": -100_000.0 });
    assert_eq!(points[0], first);
    assert_eq!(points.as_array().unwrap().len(), 5);
}

#[test]
fn columns_of_the_table_have_the_documented_names_and_order() {
    let output = worked_example();
    let names: Vec<_> = output["yearlyResults"][0].as_object().unwrap().keys().cloned().collect();
    let expected = [
        "year",
        "benefit",
        "cost",
        "netCashFlow",
        "cumulativeCashFlow",
        "presentValue",
        "cumulativePresentValue",
        "roiPercent",
    ];
    assert_eq!(names, expected);
}

#[test]
fn three_years_at_ten_percent_without_cost_are_assumed() {
    let summary = &output(json!({ "initialInvestment": 24_000, "annualBenefit": 18_000 }))["summary"];
    assert_eq!(summary["npv"], json!(20_763.34));
    assert_eq!(summary["roiPercent"], json!(125.0));
    assert_eq!(summary["paybackPeriodYears"], json!(1.33));
    assert_eq!(summary["discountedPaybackPeriodYears"], json!(1.51));
}

#[test]
fn thirty_years_of_odd_amounts_come_out_to_the_cent() {
    let output = output(json!({
        "initialInvestment": 99_999.99, "annualBenefit": 33_333.33, "annualCost": 0.01, "years": 30,
        "discountRate": 7.25, "benefitGrowthRate": -2.5,
    }));
    assert_eq!(
        output["summary"],
        json!({
            "npv": 222_287.53, "roiPercent": 609.49, "paybackPeriodYears": 3.08,
            "discountedPaybackPeriodYears": 3.64, "totalBenefit": 709_487.53, "totalCost": 100_000.29,
            "netBenefit": 609_487.24,
        })
    );
}

#[test]
fn investment_that_never_comes_back_has_no_payback_period() {
    let summary = &output(json!({
        "initialInvestment": 100_000, "annualBenefit": 30_000, "annualCost": 5_000, "discountRate": 8,
    }))["summary"];
    assert_eq!(summary["paybackPeriodYears"], Value::Null);
    assert_eq!((&summary["npv"], &summary["roiPercent"]), (&json!(-35_572.58), &json!(-21.74)));
}

#[test]
fn nothing_paid_is_paid_back_at_once_and_has_no_return_on_it() {
    let summary = &output(json!({ "initialInvestment": 0, "annualBenefit": 10 }))["summary"];
    assert_eq!(summary["paybackPeriodYears"], json!(0.0));
    assert_eq!(summary["roiPercent"], Value::Null);
}

#[test]
fn last_cent_decides_in_which_year_the_money_is_back() {
    let payback = |benefit: f64| {
        let value = json!({ "initialInvestment": 100, "annualBenefit": benefit, "years": 2 });
        output(value)["summary"]["paybackPeriodYears"].clone()
    };
    assert_eq!(payback(50.0), json!(2.0));
    assert_eq!(payback(49.99), Value::Null);
    assert_eq!(payback(100.0), json!(1.0));
}

#[test]
fn largest_amounts_work_and_results_beyond_cents_are_refused() {
    let most = 1_000_000_000_000_i64;
    let value = json!({ "initialInvestment": most, "annualBenefit": most, "years": 30, "discountRate": 0 });
    assert_eq!(output(value)["summary"]["netBenefit"], json!(29e12));

    for value in [
        json!({ "initialInvestment": most, "annualBenefit": most, "years": 30, "benefitGrowthRate": 100 }),
        json!({ "initialInvestment": 1e-25, "annualBenefit": most }),
    ] {
        assert_eq!(calculate(&input(value)).unwrap_err(), too_large());
    }
}

#[test]
fn amounts_outside_their_range_are_refused_by_name() {
    let refused = |value: Value| calculate(&input(value)).unwrap_err().message;
    let message = refused(json!({ "initialInvestment": -1, "annualBenefit": 1 }));
    assert_eq!(message, "'initialInvestment' must be from 0 to 1000000000000, not -1");
    let message = refused(json!({ "initialInvestment": 1, "annualBenefit": 1, "years": 31 }));
    assert_eq!(message, "'years' must be from 1 to 30");
    let message = refused(json!({ "initialInvestment": 1, "annualBenefit": 1e308 }));
    assert!(message.starts_with("'annualBenefit' must be from 0 to 1000000000000, not 1000000"), "{message}");
}

#[test]
fn words_say_what_the_numbers_are_in() {
    let yes = input(json!({ "initialInvestment": 24_000, "annualBenefit": 18_000, "currency": "EUR" }));
    let output = calculate(&yes).unwrap();
    assert_eq!(in_words(&output), "NPV 20,763.34 EUR, ROI 125.00 %, paid back after 1.33 years");
    assert!(in_markdown(&output).ends_with("| 3 | 18,000.00 | 30,000.00 | 20,763.34 |\n"));
    let no = input(json!({ "initialInvestment": 24_000, "annualBenefit": 0 }));
    let expected = "NPV -24,000.00 USD, ROI -100.00 %, not paid back";
    assert_eq!(in_words(&calculate(&no).unwrap()), expected);
}
