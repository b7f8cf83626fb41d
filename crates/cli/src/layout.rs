//! How much room there is, and how text is laid into it: wrapping, tables, emphasis.
//!
//! Whatever comes from a record or a server passes the boundary for terminals before it is laid out; only the
//! colours are added after it. A line never grows wider than the terminal, except commands, which must stay whole.

use std::fmt::Write as _;
use std::io;

use unicode_width::UnicodeWidthChar as _;

use crate::credential::variable;
use crate::terminal;

/// No column is cut below this before a table becomes blocks.
const NARROWEST_COLUMN: usize = 8;
/// A terminal cannot be narrower than this for us.
const NARROWEST: usize = 12;
const GAP: usize = 2;
/// Below so many columns a table that must not be cut becomes blocks.
const NARROW: usize = 60;
/// The one column that may be cut keeps so much.
const LOOSEST: usize = 24;

/// Where a command prints to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Page {
    /// Columns; none in a pipe, where lines are as long as they are.
    width: Option<usize>,
    colour: bool,
}

/// A character, and whether it is emphasised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) c: char,
    pub(crate) strong: bool,
}

impl Page {
    /// The page of this process.
    pub(crate) fn here() -> Self {
        let watched = terminal::is_watched();
        let said = variable("COLUMNS").and_then(|text| text.parse::<usize>().ok()).filter(|width| *width > 0);
        let seen = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
        let width = said.or_else(|| watched.then(seen).flatten());
        let plain = variable("TERM").is_none_or(|term| term == "dumb");
        let forced = variable("CLICOLOR_FORCE").is_some_and(|value| value != "0");
        let colour = variable("NO_COLOR").is_none() && (forced || (watched && !plain));
        Self { width: width.map(|width| width.max(NARROWEST)), colour }
    }

    #[cfg(test)]
    fn of(width: usize) -> Self {
        Self { width: Some(width), colour: false }
    }

    /// The columns there are, where that is known.
    pub(crate) fn width(&self) -> Option<usize> {
        self.width
    }

    /// Whether colours are wanted: on a terminal, unless `NO_COLOR` is set or the terminal is a plain one.
    pub(crate) fn is_coloured(&self) -> bool {
        self.colour
    }

    /// Prints text, wrapped, each line after `lead`.
    pub(crate) fn text(&self, lead: &str, text: &str) -> io::Result<()> {
        self.cells(lead, &plain(text))
    }

    /// Prints a label and text of a record, the further lines set in, so that none of them can pass for ours.
    pub(crate) fn entry(&self, label: &str, text: &str) -> io::Result<()> {
        let room = self.width.map(|width| width.saturating_sub(2).max(4));
        for (index, line) in wrap(&plain(&format!("{label}{text}")), room).iter().enumerate() {
            let lead = if index == 0 { "" } else { "  " };
            terminal::verbatim(&format!("{lead}{}", painted(line)))?;
        }
        Ok(())
    }

    /// Prints text with emphasis, wrapped, each line after `lead`.
    pub(crate) fn cells(&self, lead: &str, cells: &[Cell]) -> io::Result<()> {
        let room = self.width.map(|width| width.saturating_sub(width_of(lead)).max(4));
        let bracketed = if self.colour { None } else { Some(bracketed(cells)) };
        for line in wrap(bracketed.as_deref().unwrap_or(cells), room) {
            terminal::verbatim(&format!("{lead}{}", painted(&line)))?;
        }
        Ok(())
    }

    /// Prints a heading.
    pub(crate) fn heading(&self, text: &str) -> io::Result<()> {
        let strong = |cell: Cell| Cell { strong: self.colour, ..cell };
        self.cells("", &plain(text).into_iter().map(strong).collect::<Vec<_>>())
    }

    /// Prints rows in aligned columns, cut to the page; on a narrow one, each row becomes a block of lines.
    pub(crate) fn table(&self, headings: &[String], rows: &[Vec<String>]) -> io::Result<()> {
        let Some((rows, mut widths)) = measured(headings, rows) else { return terminal::line("(none)") };
        if self.fit(&mut widths) { aligned(headings, &rows, &widths) } else { self.blocks(headings, &rows) }
    }

    /// Prints rows in aligned columns of which none is cut but one: the others hold ids, which people copy. Rows that are
    /// wider than the page run over its edge, or become blocks where the page is narrow.
    pub(crate) fn whole_table(
        &self,
        headings: &[String],
        rows: &[Vec<String>],
        loose: Option<usize>,
    ) -> io::Result<()> {
        let Some((rows, mut widths)) = measured(headings, rows) else { return terminal::line("(none)") };
        let Some(room) = self.width else { return aligned(headings, &rows, &widths) };
        let over = (widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1)).saturating_sub(room);
        if let Some(width) = loose.and_then(|column| widths.get_mut(column)) {
            *width = width.saturating_sub(over).max(LOOSEST.min(*width));
        }
        let fits = widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1) <= room;
        if fits || room >= NARROW { aligned(headings, &rows, &widths) } else { self.blocks(headings, &rows) }
    }

    /// Takes room from the widest column until the row fits; false when that would leave too little.
    fn fit(&self, widths: &mut [usize]) -> bool {
        let Some(room) = self.width else { return true };
        let gaps = GAP * widths.len().saturating_sub(1);
        loop {
            let total: usize = widths.iter().sum::<usize>() + gaps;
            if total <= room {
                return true;
            }
            let Some(widest) = widths.iter_mut().max() else { return true };
            if *widest <= NARROWEST_COLUMN {
                return false;
            }
            *widest = (*widest - (total - room).min(*widest - NARROWEST_COLUMN)).max(NARROWEST_COLUMN);
        }
    }

    fn blocks(&self, headings: &[String], rows: &[Vec<String>]) -> io::Result<()> {
        for (index, row) in rows.iter().enumerate() {
            if index > 0 {
                terminal::verbatim("")?;
            }
            for (heading, cell) in headings.iter().zip(row).filter(|(_, cell)| !cell.is_empty()) {
                self.entry(&format!("{} ", heading.to_lowercase()), cell)?;
            }
        }
        Ok(())
    }
}

/// Rows as they will be shown, and how wide each column would like to be; nothing where there are no rows.
fn measured(headings: &[String], rows: &[Vec<String>]) -> Option<(Vec<Vec<String>>, Vec<usize>)> {
    let one_line_each = |row: &Vec<String>| row.iter().map(|cell| one_line(cell)).collect();
    let rows: Vec<Vec<String>> = rows.iter().map(one_line_each).collect();
    let mut widths: Vec<usize> = headings.iter().map(|heading| width_of(heading)).collect();
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(width_of(cell));
        }
    }
    (!rows.is_empty()).then_some((rows, widths))
}

fn aligned(headings: &[String], rows: &[Vec<String>], widths: &[usize]) -> io::Result<()> {
    for row in std::iter::once(headings).chain(rows.iter().map(Vec::as_slice)) {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(widths) {
            let cell = cut(cell, *width);
            let pad = (*width + GAP).saturating_sub(width_of(&cell));
            // Writing to a string does not fail.
            let _ = write!(line, "{cell}{:pad$}", "");
        }
        terminal::verbatim(line.trim_end())?;
    }
    Ok(())
}

/// Emphasis in colour; every line ends what it began.
fn painted(cells: &[Cell]) -> String {
    let mut out = String::with_capacity(cells.len());
    let mut strong = false;
    let edge = |begin: bool| if begin { "\u{1b}[1;33m" } else { "\u{1b}[0m" };
    for cell in cells {
        if cell.strong != strong {
            strong = cell.strong;
            out.push_str(edge(strong));
        }
        out.push(cell.c);
    }
    if strong {
        out.push_str(edge(false));
    }
    out
}

/// Emphasis without colour: in brackets.
fn bracketed(cells: &[Cell]) -> Vec<Cell> {
    let mut out = Vec::with_capacity(cells.len() + 2);
    let mut strong = false;
    let ordinary = |c: char| Cell { c, strong: false };
    for cell in cells {
        if cell.strong != strong {
            strong = cell.strong;
            out.push(ordinary(if strong { '[' } else { ']' }));
        }
        out.push(ordinary(cell.c));
    }
    if strong {
        out.push(ordinary(']'));
    }
    out
}

/// Text that cannot control a terminal, as cells.
pub(crate) fn plain(text: &str) -> Vec<Cell> {
    terminal::safe(text).chars().map(|c| Cell { c, strong: false }).collect()
}

/// Text whose matches stand between `<mark>` and `</mark>`. Matches with only space between them become one.
pub(crate) fn marked(text: &str) -> Vec<Cell> {
    let safe = terminal::safe(text);
    let mut cells: Vec<Cell> = Vec::with_capacity(safe.len());
    for (index, piece) in safe.split("<mark>").enumerate() {
        let (inside, after) =
            if index == 0 { ("", piece) } else { piece.split_once("</mark>").unwrap_or((piece, "")) };
        if let Some(gap) = cells.iter().rposition(|cell| cell.strong).filter(|_| index > 0)
            && gap + 1 < cells.len()
            && cells[gap + 1..].iter().all(|cell| cell.c.is_whitespace())
        {
            cells[gap + 1..].iter_mut().for_each(|cell| cell.strong = true);
        }
        cells.extend(inside.chars().map(|c| Cell { c, strong: true }));
        cells.extend(after.chars().map(|c| Cell { c, strong: false }));
    }
    cells
}

/// Lines no wider than the room, broken at spaces where there are any.
pub(crate) fn wrap(cells: &[Cell], room: Option<usize>) -> Vec<Vec<Cell>> {
    let mut lines = Vec::new();
    for line in cells.split(|cell| cell.c == '\n') {
        let Some(room) = room else {
            lines.push(line.to_vec());
            continue;
        };
        let spaced = |cell: &Cell| Cell { c: if cell.c == '\t' { ' ' } else { cell.c }, ..*cell };
        let line: Vec<Cell> = line.iter().map(spaced).collect();
        let mut rest = line.as_slice();
        loop {
            let end = fitting(rest, room);
            if end == rest.len() {
                lines.push(rest.to_vec());
                break;
            }
            let space = rest[..=end].iter().rposition(|cell| cell.c == ' ').filter(|at| *at > 0);
            let (line, next) = match space {
                Some(at) => (&rest[..at], &rest[at + 1..]),
                None => rest.split_at(end.max(1)),
            };
            lines.push(line.to_vec());
            rest = next;
        }
    }
    lines
}

/// Text on lines no wider than the room.
pub(crate) fn lines(text: &str, room: usize) -> Vec<String> {
    let cells: Vec<Cell> = text.chars().map(|c| Cell { c, strong: false }).collect();
    wrap(&cells, Some(room)).iter().map(|line| painted(line)).collect()
}

/// How many cells fit.
fn fitting(cells: &[Cell], room: usize) -> usize {
    let mut used = 0;
    for (index, cell) in cells.iter().enumerate() {
        used += columns(cell.c);
        if used > room {
            return index;
        }
    }
    cells.len()
}

/// A tab counts as one column here, because it is shown as a space where columns matter.
fn columns(c: char) -> usize {
    if c == '\t' { 1 } else { c.width().unwrap_or(0) }
}

pub(crate) fn width_of(text: &str) -> usize {
    text.chars().map(columns).sum()
}

/// Text on one line that cannot control a terminal.
pub(crate) fn one_line(text: &str) -> String {
    let spaced = |c: char| if matches!(c, '\n' | '\r' | '\t') { ' ' } else { c };
    terminal::safe(&text.chars().map(spaced).collect::<String>()).into_owned()
}

/// Text cut to a width, saying so.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if width_of(text) <= width {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = 1;
    for c in text.chars() {
        used += columns(c);
        if used > width {
            break;
        }
        out.push(c);
    }
    out.push('…');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(cells: &[Cell], room: usize) -> Vec<String> {
        wrap(&bracketed(cells), Some(room)).iter().map(|line| painted(line)).collect()
    }

    #[test]
    fn lines_break_at_spaces_and_long_words_anywhere() {
        assert_eq!(shown(&plain("the winter storage contract"), 11), ["the winter", "storage", "contract"]);
        assert_eq!(shown(&plain("abcdefghij"), 4), ["abcd", "efgh", "ij"]);
        assert_eq!(shown(&plain("漢字かな"), 5), ["漢字", "かな"], "wide characters take two columns");
        assert_eq!(shown(&plain("a\n\nb"), 5), ["a", "", "b"]);
    }

    #[test]
    fn neighbouring_matches_are_one() {
        let cells = marked("the <mark>winter</mark> <mark>storage</mark> ends");
        assert_eq!(shown(&cells, 80), ["the [winter storage] ends"]);
        assert_eq!(shown(&marked("no match\u{1b}[2J"), 80), ["no match␛[2J"]);
        assert_eq!(shown(&marked("<mark>open"), 80), ["[open]"]);
        assert_eq!(painted(&marked("a <mark>b</mark>")), "a \u{1b}[1;33mb\u{1b}[0m");
    }

    #[test]
    fn columns_shrink_until_only_blocks_fit() {
        let mut widths = [10, 40, 10];
        assert!(Page::of(50).fit(&mut widths));
        assert_eq!(widths, [10, 26, 10]);
        assert!(!Page::of(20).fit(&mut [10, 40, 10]));
    }

    #[test]
    fn what_is_cut_says_so() {
        assert_eq!(cut("abcdef", 4), "abc…");
        assert_eq!(cut("abcd", 4), "abcd");
    }
}
