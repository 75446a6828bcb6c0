//! What is printed.

use comfy_table::{CellAlignment, Table as Printed, presets};

/// What a figure is held against.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Goal {
    /// Smaller is better.
    AtMost { aim: f64, accept: f64 },
    /// Larger is better.
    AtLeast { aim: f64, accept: f64 },
    /// Nothing: a figure that explains another.
    None,
}

impl Goal {
    fn verdict(self, figure: f64) -> &'static str {
        let (aim, accept) = match self {
            Self::AtMost { aim, accept } => (figure <= aim, figure <= accept),
            Self::AtLeast { aim, accept } => (aim <= figure, accept <= figure),
            Self::None => return "",
        };
        match (aim, accept) {
            (true, _) => "met",
            (false, true) => "accepted",
            (false, false) => "missed",
        }
    }

    fn words(self, unit: &str) -> [String; 2] {
        match self {
            Self::AtMost { aim, accept } => [format!("≤ {aim}{unit}"), format!("{accept}{unit}")],
            Self::AtLeast { aim, accept } => [format!("≥ {aim}{unit}"), format!("{accept}{unit}")],
            Self::None => [String::new(), String::new()],
        }
    }
}

/// The one table.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<[String; 8]>,
}

impl Table {
    /// A ratio of two figures.
    pub(crate) fn ratio(
        &mut self,
        name: &str,
        what: &str,
        ours: String,
        other: String,
        ratio: f64,
        goal: Goal,
    ) {
        self.row(name, what, ours, other, format!("{ratio:.2}x"), "x", ratio, goal);
    }

    /// A figure with a unit of its own.
    pub(crate) fn figure(
        &mut self,
        name: &str,
        what: &str,
        ours: String,
        figure: f64,
        unit: &str,
        goal: Goal,
    ) {
        self.row(name, what, ours, String::new(), format!("{figure:.1}{unit}"), unit, figure, goal);
    }

    #[expect(clippy::too_many_arguments, reason = "each is one column")]
    fn row(
        &mut self,
        name: &str,
        what: &str,
        ours: String,
        other: String,
        shown: String,
        unit: &str,
        figure: f64,
        goal: Goal,
    ) {
        let [aim, accept] = goal.words(unit);
        let verdict = goal.verdict(figure).to_owned();
        self.rows.push([name.to_owned(), what.to_owned(), ours, other, shown, aim, accept, verdict]);
    }

    /// A goal that could not be measured, and why.
    pub(crate) fn missing(&mut self, name: &str, why: &str) {
        let empty = String::new;
        self.rows.push([
            name.to_owned(),
            why.to_owned(),
            empty(),
            empty(),
            "–".to_owned(),
            empty(),
            empty(),
            "not measured".to_owned(),
        ]);
    }

    /// As Markdown, so that it can be kept as it is.
    pub(crate) fn print(&self) -> String {
        let mut printed = Printed::new();
        printed.load_style(presets::ASCII_MARKDOWN);
        printed.set_header([
            "goal",
            "what",
            "Toolwright",
            "against",
            "figure",
            "aim",
            "accept from",
            "verdict",
        ]);
        for row in &self.rows {
            printed.add_row(row);
        }
        for column in [4, 5, 6] {
            if let Some(column) = printed.column_mut(column) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        printed.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figure_between_aim_and_limit_is_accepted() {
        let at_most = Goal::AtMost { aim: 2.0, accept: 3.5 };
        assert_eq!([1.9, 3.5, 3.6].map(|figure| at_most.verdict(figure)), ["met", "accepted", "missed"]);
        let at_least = Goal::AtLeast { aim: 0.8, accept: 0.5 };
        assert_eq!([0.8, 0.6, 0.4].map(|figure| at_least.verdict(figure)), ["met", "accepted", "missed"]);
    }
}
