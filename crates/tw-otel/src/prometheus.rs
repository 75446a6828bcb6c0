//! Reads the text that `/metrics` answers with.

use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MetricShape {
    Counter,
    Gauge,
    Histogram,
}

/// A metric with all its series.
#[derive(Debug)]
pub(crate) struct Family {
    pub(crate) name: String,
    pub(crate) shape: MetricShape,
    pub(crate) points: Vec<Point>,
}

#[derive(Debug, Default)]
pub(crate) struct Point {
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) value: f64,
    pub(crate) histogram: Option<Histogram>,
}

#[derive(Debug, Default)]
pub(crate) struct Histogram {
    /// Upper bounds with the count of what is at most that; the last bound is infinite.
    buckets: Vec<(f64, u64)>,
    pub(crate) sum: f64,
}

impl Histogram {
    /// The bounds between the buckets.
    pub(crate) fn bounds(&self) -> Vec<f64> {
        self.buckets.iter().map(|(bound, _)| *bound).filter(|bound| bound.is_finite()).collect()
    }

    /// What is in each bucket alone.
    pub(crate) fn counts(&self) -> Vec<u64> {
        let before = std::iter::once(0).chain(self.buckets.iter().map(|(_, count)| *count));
        self.buckets.iter().zip(before).map(|((_, count), before)| count.saturating_sub(before)).collect()
    }
}

/// The metrics in a text. What is of another shape, such as a summary, is left out.
pub(crate) fn families(text: &str) -> Vec<Family> {
    let mut families: Vec<Family> = Vec::new();
    for line in text.lines() {
        if let Some(typed) = line.strip_prefix("# TYPE ") {
            let shape = match typed.split_once(' ') {
                Some((_, "counter")) => MetricShape::Counter,
                Some((_, "gauge")) => MetricShape::Gauge,
                Some((_, "histogram")) => MetricShape::Histogram,
                _ => continue,
            };
            let name = typed.split(' ').next().unwrap_or_default().to_owned();
            families.push(Family { name, shape, points: Vec::new() });
        } else if let Some(family) = families.last_mut()
            && let Some((series, value)) = line.rsplit_once(' ').filter(|_| !line.starts_with('#'))
            && let Ok(value) = value.parse::<f64>()
        {
            family.take(series, value);
        }
    }
    families.retain(|family| !family.points.is_empty());
    families
}

impl Family {
    fn take(&mut self, series: &str, value: f64) {
        let (name, labels) = series.split_once('{').unwrap_or((series, ""));
        let mut labels = read_labels(labels.trim_end_matches('}'));
        let Some(part) = name.strip_prefix(self.name.as_str()) else { return };
        if self.shape != MetricShape::Histogram {
            if part.is_empty() {
                self.points.push(Point { labels, value, histogram: None });
            }
            return;
        }
        let bound = labels.remove("le");
        let known = self.points.iter().position(|point| point.labels == labels);
        let index = known.unwrap_or_else(|| {
            self.points.push(Point { labels, histogram: Some(Histogram::default()), ..Point::default() });
            self.points.len() - 1
        });
        let Some(histogram) = &mut self.points[index].histogram else { return };
        match (part, bound) {
            ("_bucket", Some(bound)) => {
                let bound =
                    if bound == "+Inf" { f64::INFINITY } else { bound.parse().unwrap_or(f64::INFINITY) };
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "a count is a whole number, however it is written"
                )]
                histogram.buckets.push((bound, value as u64));
            }
            ("_sum", None) => histogram.sum = value,
            _ => {}
        }
    }
}

/// `a="b",c="d"`, with `\"`, `\\` and `\n` in values.
fn read_labels(text: &str) -> BTreeMap<String, String> {
    let mut labels = BTreeMap::new();
    let mut rest = text;
    while let Some((name, after)) = rest.split_once("=\"") {
        let (mut value, mut escaped, mut end) = (String::new(), false, after.len());
        for (at, c) in after.char_indices() {
            match c {
                _ if escaped => {
                    value.push(if c == 'n' { '\n' } else { c });
                    escaped = false;
                }
                '\\' => escaped = true,
                '"' => {
                    end = at + 1;
                    break;
                }
                c => value.push(c),
            }
        }
        labels.insert(name.trim_start_matches(',').to_owned(), value);
        rest = &after[end.min(after.len())..];
    }
    labels
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# HELP runs The runs.\n# TYPE runs_total counter\nruns_total{status=\"success\",source=\"a \\\"b\\\", {c}\"} 7\n\
        runs_total{status=\"error\"} 2\n\n# TYPE in_flight gauge\nin_flight 3\n\n# TYPE run_seconds histogram\n\
        run_seconds_bucket{le=\"0.1\"} 4\nrun_seconds_bucket{le=\"1\"} 6\nrun_seconds_bucket{le=\"+Inf\"} 9\n\
        run_seconds_sum 12.5\nrun_seconds_count 9\n\n# TYPE odd summary\nodd{quantile=\"0.5\"} 1\n";

    #[test]
    fn counters_gauges_and_histograms_are_read() {
        let all = families(TEXT);
        assert_eq!(all.len(), 3);
        let [counter, gauge, histogram] = &all[..] else { panic!("{all:?}") };
        assert_eq!(
            (counter.name.as_str(), counter.shape, counter.points.len()),
            ("runs_total", MetricShape::Counter, 2)
        );
        assert_eq!(counter.points[0].labels["source"], "a \"b\", {c}");
        assert!((counter.points[0].value - 7.0).abs() < f64::EPSILON);
        assert!((gauge.points[0].value - 3.0).abs() < f64::EPSILON);
        let point = histogram.points[0].histogram.as_ref().unwrap();
        assert_eq!((point.bounds(), point.counts()), (vec![0.1, 1.0], vec![4, 2, 3]));
        assert!((point.sum - 12.5).abs() < f64::EPSILON);
    }
}
