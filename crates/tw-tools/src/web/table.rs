//! Tables of a page.
//!
//! A table with another one in a cell is no table but an arrangement of the page: its cells are
//! paragraphs.

use super::sheet::{Gap, Sheet, Style};

/// How many tables within tables are told apart.
const DEPTH_MAX: usize = 50;

#[derive(Debug)]
pub(super) struct Tables {
    style: Style,
    open: Vec<Table>,
    /// How many are open beyond those.
    deeper: usize,
    /// The cell that is being written.
    cell: Option<Sheet>,
    /// How much the finished cells hold.
    held: usize,
}

#[derive(Debug)]
struct Table {
    arranges: bool,
    rows: Vec<Vec<String>>,
}

impl Tables {
    pub(super) fn new(style: Style) -> Self {
        Self { style, open: Vec::new(), deeper: 0, cell: None, held: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.held + self.cell.as_ref().map_or(0, Sheet::len)
    }

    pub(super) fn cell(&mut self) -> Option<&mut Sheet> {
        self.cell.as_mut()
    }

    pub(super) fn start(&mut self, name: &str, sheet: &mut Sheet) {
        if name == "table" {
            return self.open(sheet);
        }
        self.end_cell();
        let Some(table) = self.open.last_mut() else { return sheet.gap(Gap::Paragraph) };
        match name {
            _ if table.arranges => sheet.gap(Gap::Paragraph),
            "tr" => table.rows.push(Vec::new()),
            "caption" => {}
            _ => {
                if table.rows.is_empty() {
                    table.rows.push(Vec::new());
                }
                self.cell = Some(Sheet::cell(self.style));
            }
        }
    }

    pub(super) fn end(&mut self, name: &str, sheet: &mut Sheet) {
        match name {
            "table" => self.close(sheet),
            "tr" | "td" | "th" => {
                self.end_cell();
                if self.open.last().is_none_or(|table| table.arranges) {
                    sheet.gap(Gap::Paragraph);
                }
            }
            _ => sheet.gap(Gap::Paragraph),
        }
    }

    pub(super) fn end_all(&mut self, sheet: &mut Sheet) {
        self.deeper = 0;
        while !self.open.is_empty() {
            self.close(sheet);
        }
    }

    fn open(&mut self, sheet: &mut Sheet) {
        self.end_cell();
        if let Some(outer) = self.open.last_mut().filter(|outer| !outer.arranges) {
            outer.arranges = true;
            let rows = std::mem::take(&mut outer.rows);
            self.write_paragraphs(&rows, sheet);
        }
        sheet.gap(Gap::Paragraph);
        if self.open.len() == DEPTH_MAX {
            self.deeper += 1;
        } else {
            self.open.push(Table { arranges: false, rows: Vec::new() });
        }
    }

    fn close(&mut self, sheet: &mut Sheet) {
        self.end_cell();
        sheet.gap(Gap::Paragraph);
        if self.deeper > 0 {
            self.deeper -= 1;
            return;
        }
        let Some(table) = self.open.pop() else { return };
        let rows: Vec<_> =
            table.rows.into_iter().filter(|row| row.iter().any(|cell| !cell.is_empty())).collect();
        if rows.iter().all(|row| row.len() < 2) {
            self.write_paragraphs(&rows, sheet);
        } else {
            self.write(&rows, sheet);
        }
        sheet.gap(Gap::Paragraph);
    }

    fn end_cell(&mut self) {
        let (Some(cell), Some(table)) = (self.cell.take(), self.open.last_mut()) else { return };
        let text = cell.finish();
        self.held += text.len();
        if let Some(row) = table.rows.last_mut() {
            row.push(text);
        }
    }

    fn write(&mut self, rows: &[Vec<String>], sheet: &mut Sheet) {
        for (index, row) in rows.iter().enumerate() {
            match self.style {
                Style::Text => sheet.raw_line(&row.join(" | ")),
                Style::Markdown => sheet.raw_line(&format!("| {} |", row.join(" | "))),
            }
            if index == 0 && self.style == Style::Markdown {
                sheet.raw_line(&format!("|{}", " --- |".repeat(row.len())));
            }
        }
        self.forget(rows);
    }

    fn write_paragraphs(&mut self, rows: &[Vec<String>], sheet: &mut Sheet) {
        for cell in rows.iter().flatten().filter(|cell| !cell.is_empty()) {
            sheet.gap(Gap::Paragraph);
            sheet.raw_line(cell);
        }
        self.forget(rows);
    }

    fn forget(&mut self, rows: &[Vec<String>]) {
        let held: usize = rows.iter().flatten().map(String::len).sum();
        self.held = self.held.saturating_sub(held);
    }
}
