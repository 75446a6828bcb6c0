//! The JSON of OTLP. Numbers of 64 bits are texts there.

use serde_json::{Value, json};

use crate::{
    Attribute, Settings, Span, SpanKind,
    prometheus::{Family, MetricShape, Point},
};

pub(crate) fn traces(settings: &Settings, instance: &str, spans: &[Span]) -> Value {
    let spans: Vec<Value> = spans.iter().map(span).collect();
    json!({ "resourceSpans": [{
        "resource": resource(settings, instance),
        "scopeSpans": [{ "scope": scope(), "spans": spans }],
    }] })
}

pub(crate) fn metrics(settings: &Settings, instance: &str, began: u64, now: u64, all: &[Family]) -> Value {
    let metrics: Vec<Value> = all.iter().map(|family| metric(family, began, now)).collect();
    json!({ "resourceMetrics": [{
        "resource": resource(settings, instance),
        "scopeMetrics": [{ "scope": scope(), "metrics": metrics }],
    }] })
}

fn resource(settings: &Settings, instance: &str) -> Value {
    json!({ "attributes": [
        text("service.name", &settings.service_name),
        text("service.version", env!("CARGO_PKG_VERSION")),
        text("service.instance.id", instance),
    ] })
}

fn scope() -> Value {
    json!({ "name": "toolwright", "version": env!("CARGO_PKG_VERSION") })
}

fn text(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}

fn span(span: &Span) -> Value {
    let attribute = |(key, value): &(&'static str, Attribute)| match value {
        Attribute::Text(value) => text(key, value),
        Attribute::Number(value) => json!({ "key": key, "value": { "intValue": value.to_string() } }),
    };
    let attributes: Vec<Value> = span.attributes.iter().map(attribute).collect();
    let kind = match span.kind {
        SpanKind::Internal => 1,
        SpanKind::Server => 2,
        SpanKind::Client => 3,
    };
    let mut said = json!({
        "traceId": span.trace, "spanId": span.id, "name": span.name, "kind": kind,
        "startTimeUnixNano": span.start.to_string(), "endTimeUnixNano": span.end.to_string(),
        "attributes": attributes, "status": {},
    });
    if let Some(parent) = &span.parent {
        said["parentSpanId"] = json!(parent);
    }
    if let Some(error) = &span.error {
        said["status"] = json!({ "code": 2, "message": error });
    }
    said
}

fn metric(family: &Family, began: u64, now: u64) -> Value {
    let points: Vec<Value> = family.points.iter().map(|point| data_point(point, began, now)).collect();
    match family.shape {
        // 2: cumulative, since the start of the process.
        MetricShape::Counter => json!({ "name": family.name, "sum": {
            "aggregationTemporality": 2, "isMonotonic": true, "dataPoints": points } }),
        MetricShape::Gauge => json!({ "name": family.name, "gauge": { "dataPoints": points } }),
        MetricShape::Histogram => json!({ "name": family.name, "histogram": {
            "aggregationTemporality": 2, "dataPoints": points } }),
    }
}

fn data_point(point: &Point, began: u64, now: u64) -> Value {
    let attributes: Vec<Value> = point.labels.iter().map(|(key, value)| text(key, value)).collect();
    let mut said = json!({
        "attributes": attributes, "startTimeUnixNano": began.to_string(), "timeUnixNano": now.to_string(),
    });
    match &point.histogram {
        None => said["asDouble"] = json!(point.value),
        Some(histogram) => {
            let counts = histogram.counts();
            said["count"] = json!(counts.iter().sum::<u64>().to_string());
            said["sum"] = json!(histogram.sum);
            said["explicitBounds"] = json!(histogram.bounds());
            said["bucketCounts"] = json!(counts.iter().map(u64::to_string).collect::<Vec<_>>());
        }
    }
    said
}
