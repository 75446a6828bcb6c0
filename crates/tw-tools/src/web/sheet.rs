//! Writes Markdown, or plain text, from top to bottom: paragraphs, leads of lines, marks around words.
//!
//! Nothing here goes back over what is written, and nesting that no reader could follow is not shown, so
//! the length of the result is that of the words plus a bounded part.

/// How deep lists and quotes are shown. What is deeper stands on the deepest line.
const DEPTH_MAX: usize = 12;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Markdown,
    Text,
}

/// What can stand around words. Each at most once at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Strong,
    Emphasis,
    Code,
    Link(String),
}

/// How far what follows is apart from what stands before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Gap {
    None,
    Line,
    Paragraph,
}

#[derive(Debug)]
enum Frame {
    Quote,
    List {
        /// The number of the next item; none where items have no number.
        next: Option<usize>,
        /// What the next line of it begins with.
        lead: Option<String>,
        width: usize,
    },
}

#[derive(Debug)]
pub(super) struct Sheet {
    out: String,
    style: Style,
    /// One line: breaks are spaces, as in the cell of a table.
    flat: bool,
    frames: Vec<Frame>,
    /// How many frames are open beyond those that are shown.
    deeper: usize,
    gap: Gap,
    space: bool,
    /// The level of a heading that has no word yet.
    heading: Option<usize>,
    in_heading: bool,
    /// With whether their beginning is written.
    marks: Vec<(Mark, bool)>,
}

impl Sheet {
    pub(super) fn new(style: Style) -> Self {
        Self {
            out: String::new(),
            style,
            flat: false,
            frames: Vec::new(),
            deeper: 0,
            gap: Gap::None,
            space: false,
            heading: None,
            in_heading: false,
            marks: Vec::new(),
        }
    }

    /// A sheet of one line, for the cell of a table.
    pub(super) fn cell(style: Style) -> Self {
        Self { flat: true, ..Self::new(style) }
    }

    pub(super) fn len(&self) -> usize {
        self.out.len()
    }

    pub(super) fn finish(mut self) -> String {
        self.leave_marks();
        self.out
    }

    /// Writes words. White space between them becomes one space.
    pub(super) fn words(&mut self, text: &str) {
        for (index, word) in text.split(char::is_whitespace).enumerate() {
            self.space |= index > 0;
            // What only tells where a word may be broken.
            let word = word.replace(['\u{200b}', '\u{ad}', '\u{feff}'], "");
            if !word.is_empty() {
                self.start();
                self.put_word(&word);
            }
        }
    }

    pub(super) fn gap(&mut self, gap: Gap) {
        if self.flat {
            self.space = true;
            return;
        }
        // A mark that is open goes on behind the break: Markdown ends it there.
        if self.gap == Gap::None {
            self.leave_marks();
        }
        self.gap = self.gap.max(gap);
        self.space = false;
        // One that nobody ends goes as far as its paragraph.
        self.in_heading &= gap < Gap::Paragraph || self.heading.is_some();
    }

    pub(super) fn open_heading(&mut self, level: usize) {
        self.gap(Gap::Paragraph);
        if !self.flat {
            self.heading = Some(level);
            self.in_heading = true;
        }
    }

    pub(super) fn close_heading(&mut self) {
        self.heading = None;
        self.gap(Gap::Paragraph);
    }

    /// A break within what it stands in.
    pub(super) fn line_break(&mut self) {
        if self.in_heading { self.space = true } else { self.gap(Gap::Line) }
    }

    /// Lines that stand as they are.
    pub(super) fn verbatim(&mut self, text: &str, language: &str) {
        if self.flat {
            return self.words(text);
        }
        let text = text.strip_prefix('\n').unwrap_or(text).trim_end();
        if text.is_empty() {
            return;
        }
        let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
        let fence = "`".repeat(3.max(longest + 1));
        self.gap(Gap::Paragraph);
        if self.style == Style::Markdown {
            self.raw_line(&format!("{fence}{language}"));
        }
        text.split('\n').for_each(|line| self.raw_line(line.trim_end_matches('\r')));
        if self.style == Style::Markdown {
            self.raw_line(&fence);
        }
        self.gap(Gap::Paragraph);
    }

    /// One line as it is, behind a gap. Marks go around it, not into it.
    pub(super) fn raw_line(&mut self, line: &str) {
        let marks = std::mem::take(&mut self.marks);
        self.start();
        self.out.push_str(line);
        self.gap = Gap::Line;
        self.marks = marks;
    }

    pub(super) fn rule(&mut self) {
        if self.style == Style::Markdown && !self.flat && !self.out.is_empty() {
            self.raw_line("---");
            self.gap(Gap::Paragraph);
        }
    }

    pub(super) fn open_quote(&mut self) {
        self.gap(Gap::Paragraph);
        self.open(Frame::Quote);
    }

    pub(super) fn open_list(&mut self, first: Option<usize>) {
        let nested = self.frames.iter().any(|frame| matches!(frame, Frame::List { .. }));
        self.gap(if nested { Gap::Line } else { Gap::Paragraph });
        self.open(Frame::List { next: first, lead: None, width: 0 });
    }

    pub(super) fn close_quote(&mut self) {
        self.close(|frame| matches!(frame, Frame::Quote));
    }

    pub(super) fn close_list(&mut self) {
        self.close(|frame| matches!(frame, Frame::List { .. }));
    }

    /// Ends the innermost of its kind, and what nobody ended within.
    fn close(&mut self, which: impl Fn(&Frame) -> bool) {
        if self.deeper > 0 {
            self.deeper -= 1;
        } else if let Some(place) = self.frames.iter().rposition(which) {
            self.frames.truncate(place);
        }
        let nested = self.frames.iter().any(|frame| matches!(frame, Frame::List { .. }));
        self.gap(if nested { Gap::Line } else { Gap::Paragraph });
    }

    pub(super) fn item(&mut self) {
        self.gap(Gap::Line);
        if self.deeper > 0 || self.flat {
            return;
        }
        if let Some(Frame::List { next, lead, width }) = self.frames.last_mut() {
            let text = next.map_or_else(|| "- ".to_owned(), |number| format!("{number}. "));
            *next = next.map(|number| number.saturating_add(1));
            *width = text.len();
            *lead = Some(text);
        }
    }

    pub(super) fn open_mark(&mut self, mark: Mark) {
        let same = |(open, _): &(Mark, bool)| std::mem::discriminant(open) == std::mem::discriminant(&mark);
        let shown = self.style == Style::Markdown && !self.marks.iter().any(|(open, _)| *open == Mark::Code);
        if shown && !self.marks.iter().any(same) {
            self.marks.push((mark, false));
        }
    }

    pub(super) fn close_mark(&mut self, which: impl Fn(&Mark) -> bool) {
        let Some(place) = self.marks.iter().position(|(mark, _)| which(mark)) else { return };
        if self.marks[place].1 {
            // Those that were opened later go on behind it.
            self.end_marks(place);
        }
        self.marks.remove(place);
    }

    fn leave_marks(&mut self) {
        self.end_marks(0);
    }

    fn end_marks(&mut self, from: usize) {
        for (mark, written) in self.marks[from..].iter_mut().rev() {
            if std::mem::take(written) {
                match mark {
                    Mark::Strong => self.out.push_str("**"),
                    Mark::Emphasis => self.out.push('*'),
                    Mark::Code => self.out.push('`'),
                    Mark::Link(to) => {
                        self.out.push_str("](");
                        self.out.push_str(to);
                        self.out.push(')');
                    }
                }
            }
        }
    }

    fn open(&mut self, frame: Frame) {
        if self.frames.len() == DEPTH_MAX || self.flat {
            self.deeper += 1;
        } else {
            self.frames.push(frame);
        }
    }

    /// Writes what has to stand before the next word.
    fn start(&mut self) {
        let fresh = self.out.is_empty() || self.gap > Gap::None;
        if !self.out.is_empty() && self.gap > Gap::None {
            if self.gap == Gap::Paragraph {
                self.out.push('\n');
                self.quotes();
            }
            self.out.push('\n');
        }
        self.gap = Gap::None;
        if fresh {
            self.lead();
        } else if self.space {
            self.out.push(' ');
        }
        self.space = false;
        for (mark, written) in &mut self.marks {
            if !std::mem::replace(written, true) {
                self.out.push_str(match mark {
                    Mark::Strong => "**",
                    Mark::Emphasis => "*",
                    Mark::Code => "`",
                    Mark::Link(_) => "[",
                });
            }
        }
    }

    /// An empty line of a quote is part of it.
    fn quotes(&mut self) {
        if self.style == Style::Markdown {
            let shown = self.frames.iter().take_while(|frame| matches!(frame, Frame::Quote)).count();
            self.out.push_str(">".repeat(shown).as_str());
        }
    }

    fn lead(&mut self) {
        for frame in &mut self.frames {
            match frame {
                Frame::Quote if self.style == Style::Markdown => self.out.push_str("> "),
                Frame::Quote => {}
                Frame::List { lead, width, .. } => match lead.take() {
                    Some(lead) => self.out.push_str(&lead),
                    None => self.out.extend(std::iter::repeat_n(' ', *width)),
                },
            }
        }
        if let Some(level) = self.heading.take().filter(|_| self.style == Style::Markdown) {
            self.out.extend(std::iter::repeat_n('#', level));
            self.out.push(' ');
        }
    }

    fn put_word(&mut self, word: &str) {
        // In a cell a bar would begin the next one.
        if self.flat && self.style == Style::Markdown {
            self.out.push_str(&word.replace('|', "\\|"));
        } else {
            self.out.push_str(word);
        }
    }
}
