//! Reports of how far a run is: no more than somebody can read, and none that says nothing new.

use std::{future::pending, time::Duration};

use tokio::time::{Instant, sleep_until};
use toolwright_sdk::ToolProgress;

/// How often a report is told at first, and how often once there were many.
const EVERY: Duration = Duration::from_secs(1);
const EVERY_LATER: Duration = Duration::from_secs(10);
const MANY: u32 = 60;

/// Which reports of a run are told, and when.
#[derive(Debug)]
pub(super) struct ReportPace {
    highest: Option<f64>,
    /// The newest one that is still to be told.
    held: Option<ToolProgress>,
    next: Instant,
    told: u32,
}

impl ReportPace {
    pub(super) fn new() -> Self {
        Self { highest: None, held: None, next: Instant::now(), told: 0 }
    }

    pub(super) fn take(&mut self, report: ToolProgress) {
        let number = report.progress;
        if number.is_finite() && self.highest.is_none_or(|highest| highest < number) {
            self.highest = Some(number);
            self.held = Some(report);
        }
    }

    /// Resolves once there is one whose time has come.
    pub(super) async fn due(&mut self) -> ToolProgress {
        if self.held.is_some() {
            sleep_until(self.next).await;
        }
        match self.held.take() {
            None => pending().await,
            Some(report) => {
                self.told = self.told.saturating_add(1);
                self.next = Instant::now() + if self.told < MANY { EVERY } else { EVERY_LATER };
                report
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::timeout;

    use super::*;

    fn report(progress: f64) -> ToolProgress {
        ToolProgress { progress, total: None, message: None }
    }

    #[tokio::test(start_paused = true)]
    async fn newest_report_is_told_now_and_then_and_none_that_goes_back() {
        let mut pace = ReportPace::new();
        let began = Instant::now();
        let mut told = Vec::new();
        for number in 1..=3_000 {
            for report in [report(f64::from(number)), report(0.5), report(f64::NAN)] {
                pace.take(report);
            }
            if let Ok(report) = timeout(Duration::from_millis(100), pace.due()).await {
                told.push((report.progress, began.elapsed().as_secs()));
            }
        }
        assert_eq!(told[..2].iter().map(|(number, _)| *number).collect::<Vec<_>>(), [1.0, 11.0]);
        assert!(told.is_sorted_by(|(a, _), (b, _)| a < b), "{told:?}");
        // A minute at one a second, and four at one in ten.
        assert!((80..=90).contains(&told.len()), "{} in {:?}", told.len(), began.elapsed());
    }
}
