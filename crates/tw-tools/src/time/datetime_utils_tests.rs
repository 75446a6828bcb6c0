use super::*;

/// Sunday, when clocks went forward in Vienna nine hours before.
const NOW: &str = "2026-03-29T10:00:00Z";

fn run(input: Value) -> Result<(Value, String), ToolFailure> {
    let input: Input = serde_json::from_value(input).unwrap();
    let reply = run_at(NOW.parse().unwrap(), &input)?;
    Ok((serde_json::to_value(reply.data()).unwrap(), reply.summary().to_owned()))
}

fn iso_of(input: Value) -> String {
    run(input).unwrap().0["iso"].as_str().unwrap().to_owned()
}

#[track_caller]
fn check_add(value: &str, zone: &str, amount: i64, unit: &str, expected: &str) {
    let input =
        json!({ "operation": "add", "value": value, "timezone": zone, "amount": amount, "unit": unit });
    assert_eq!(iso_of(input), expected, "{value} + {amount} {unit}");
}

#[test]
fn now_is_told_in_the_zone_asked_for() {
    let (output, summary) = run(json!({ "operation": "now", "timezone": "Europe/Vienna" })).unwrap();
    let expected = json!({
        "operation": "now", "timezone": "Europe/Vienna", "iso": "2026-03-29T12:00:00+02:00",
        "unix_seconds": 1_774_778_400, "date": "2026-03-29", "time": "12:00:00", "weekday": "Sunday",
    });
    assert_eq!(output, expected);
    assert_eq!(summary, "Sunday 2026-03-29T12:00:00+02:00 (Europe/Vienna)");
    assert_eq!(iso_of(json!({ "operation": "now" })), NOW);
}

#[test]
fn parse_takes_texts_numbers_and_patterns() {
    let parse = |value: Value| iso_of(json!({ "operation": "parse", "value": value }));
    assert_eq!(parse(json!(1_774_778_400)), NOW);
    assert_eq!(parse(json!(1_774_778_400.5)), "2026-03-29T10:00:00.5Z");
    assert_eq!(parse(json!("2026-03-29T12:00:00+02:00")), NOW);
    assert_eq!(parse(json!("2026-03-29")), "2026-03-29T00:00:00Z");
    let input = json!({ "operation": "parse", "value": "01.07.2026", "format": "%d.%m.%Y" });
    assert_eq!(iso_of(input), "2026-07-01T00:00:00Z");
}

#[test]
fn format_writes_after_the_pattern() {
    let input = json!({
        "operation": "format", "value": NOW, "format": "%A, %d %B %Y %H:%M %Z", "timezone": "Europe/Vienna",
    });
    let (output, summary) = run(input).unwrap();
    assert_eq!(output["formatted"], json!("Sunday, 29 March 2026 12:00 CEST"));
    assert_eq!(summary, "Sunday, 29 March 2026 12:00 CEST");
}

#[test]
fn pattern_that_means_nothing_is_refused() {
    for pattern in ["%", "%!", "%999999999999d"] {
        let failure = run(json!({ "operation": "format", "value": NOW, "format": pattern })).unwrap_err();
        assert!(failure.message.starts_with("'format' cannot be used: "), "{failure}");
    }
}

#[test]
fn months_and_years_end_on_the_last_day_where_the_day_does_not_exist() {
    check_add("2024-01-31", "UTC", 1, "months", "2024-02-29T00:00:00Z");
    check_add("2023-01-31", "UTC", 1, "months", "2023-02-28T00:00:00Z");
    check_add("2024-03-31", "UTC", -1, "months", "2024-02-29T00:00:00Z");
    check_add("2024-02-29", "UTC", 1, "years", "2025-02-28T00:00:00Z");
    check_add("2024-02-29", "UTC", 4, "years", "2028-02-29T00:00:00Z");
    check_add("2024-02-28", "UTC", 1, "days", "2024-02-29T00:00:00Z");
    check_add("2023-02-28", "UTC", 1, "days", "2023-03-01T00:00:00Z");
    check_add("2024-12-30", "UTC", 1, "weeks", "2025-01-06T00:00:00Z");
}

#[test]
fn days_keep_the_time_of_day_and_hours_do_not_when_clocks_change() {
    // In New York clocks went from 02:00 to 03:00 on 2024-03-10.
    let zone = "America/New_York";
    check_add("2024-03-09T12:00:00", zone, 1, "days", "2024-03-10T12:00:00-04:00");
    check_add("2024-03-09T12:00:00", zone, 24, "hours", "2024-03-10T13:00:00-04:00");
    check_add("2024-03-10T01:59:59", zone, 1, "seconds", "2024-03-10T03:00:00-04:00");
    check_add("2024-03-09T02:30:00", zone, 1, "days", "2024-03-10T03:30:00-04:00");
    // And back from 02:00 to 01:00 on 2024-11-03.
    check_add("2024-11-03T01:30:00", zone, 60, "minutes", "2024-11-03T01:30:00-05:00");
}

#[test]
fn difference_is_given_in_seconds_days_and_words() {
    let (output, summary) =
        run(json!({ "operation": "diff", "value": "2024-02-28", "other": "2024-03-01T06:00:00" })).unwrap();
    let expected = json!({
        "operation": "diff", "timezone": "UTC", "seconds": 194_400, "days": 2.25, "human": "2 days, 6 hours later",
        "calendar": { "years": 0, "months": 0, "days": 2, "hours": 6, "minutes": 0, "seconds": 0 },
        "from": "2024-02-28T00:00:00Z", "to": "2024-03-01T06:00:00Z",
    });
    assert_eq!(output, expected);
    assert_eq!(summary, "2 days, 6 hours later");
}

#[test]
fn difference_backwards_is_negative_and_says_earlier() {
    let (output, _) =
        run(json!({ "operation": "diff", "value": "2025-03-15", "other": "2024-02-29T23:59:58" })).unwrap();
    assert_eq!(output["human"], json!("1 year, 14 days, 2 seconds earlier"));
    assert_eq!(output["seconds"], json!(-32_745_602));
    assert_eq!(output["calendar"]["years"], json!(-1));
    let (same, _) = run(json!({ "operation": "diff", "value": NOW, "other": 1_774_778_400 })).unwrap();
    assert_eq!(same["human"], json!("the same moment, to the second"));
}

#[test]
fn day_on_which_clocks_change_is_one_day_but_not_24_hours() {
    let input = json!({
        "operation": "diff", "value": "2026-03-29", "other": "2026-03-30", "timezone": "Europe/Vienna",
    });
    let (output, _) = run(input).unwrap();
    assert_eq!(output["human"], json!("1 day later"));
    assert_eq!((&output["seconds"], &output["days"]), (&json!(82_800), &json!(0.958_333)));
}

#[test]
fn convert_reads_local_time_in_one_zone_and_tells_it_in_another() {
    let input = json!({
        "operation": "convert", "value": "2026-03-29T10:00:00", "timezone": "Europe/Vienna",
        "to_timezone": "America/New_York",
    });
    let (output, _) = run(input).unwrap();
    assert_eq!(output["iso"], json!("2026-03-29T04:00:00-04:00"));
    assert_eq!(output["timezone"], json!("America/New_York"));
}

#[test]
fn time_that_was_moved_is_noted() {
    let input = json!({ "operation": "parse", "value": "2026-03-29T02:30:00", "timezone": "Europe/Vienna" });
    let (output, _) = run(input).unwrap();
    assert_eq!(output["iso"], json!("2026-03-29T03:30:00+02:00"));
    assert!(
        output["note"].as_str().unwrap().starts_with("2026-03-29T02:30:00 does not exist in Europe/Vienna")
    );
}

#[test]
fn what_an_operation_needs_is_asked_for_by_name() {
    let refused = |input: Value| {
        let failure = run(input).unwrap_err();
        assert_eq!(failure.code, Code::MissingParam);
        failure.message
    };
    for operation in ["parse", "format", "add", "diff"] {
        let message = refused(json!({ "operation": operation }));
        assert_eq!(message, format!("datetime_utils.{operation} requires 'value'"));
    }
    let with = |operation: &str| json!({ "operation": operation, "value": NOW, "amount": null });
    assert_eq!(refused(with("add")), "datetime_utils.add requires 'amount'");
    assert_eq!(refused(with("diff")), "datetime_utils.diff requires 'other'");
    assert_eq!(refused(with("format")), "datetime_utils.format requires 'format'");
    assert_eq!(refused(with("convert")), "datetime_utils.convert requires 'to_timezone'");
    let message = refused(json!({ "operation": "add", "value": NOW, "amount": 1 }));
    assert_eq!(message, "datetime_utils.add requires 'unit'");
}

#[test]
fn results_beyond_the_calendar_are_refused() {
    for (amount, unit) in
        [(20_000, "years"), (1_000_000_000_000, "seconds"), (i64::MIN, "hours"), (i64::MAX, "days")]
    {
        let input = json!({ "operation": "add", "value": NOW, "amount": amount, "unit": unit });
        let failure = run(input).unwrap_err();
        assert!(failure.message.starts_with("the result is out of range"), "{failure}");
    }
}

#[test]
fn schema_asks_for_what_each_operation_needs() {
    let schema = tw_schema::Schema::compile(&schemars::schema_for!(Input).to_value()).unwrap();
    let missing =
        |input: Value| -> Vec<String> { schema.faults(&input).into_iter().map(|fault| fault.path).collect() };
    assert_eq!(missing(json!({ "operation": "now" })), [""; 0]);
    assert_eq!(missing(json!({ "operation": "parse", "value": NOW })), [""; 0]);
    assert_eq!(missing(json!({ "operation": "parse" })), ["/value"]);
    assert_eq!(missing(json!({ "operation": "format" })), ["/format", "/value"]);
    assert_eq!(missing(json!({ "operation": "add", "value": NOW })), ["/amount", "/unit"]);
    assert_eq!(missing(json!({ "operation": "diff", "value": NOW })), ["/other"]);
    assert_eq!(missing(json!({ "operation": "convert", "value": NOW })), ["/to_timezone"]);
}
