//! How a file of separated values is written: what parts its cells, where its table begins, and what its columns are
//! called. Told from its beginning.

use std::collections::HashMap;

use csv::{ReaderBuilder, StringRecord};

use super::reading::{ANYTHING, BOOLEAN, Cell, TEXT};

/// How much of a file is looked at.
pub(super) const SAMPLE: u64 = 64 * 1024;
/// Most rows that are looked at.
const ROWS: usize = 200;
/// Most rows that may stand before the table.
const BEFORE: usize = 30;

/// How a file is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Dialect {
    pub(super) delimiter: u8,
    /// Rows before the table, its head included.
    pub(super) skip: usize,
    /// How many of these say how the file is written, and are none of its contents.
    pub(super) marks: usize,
    /// How many after those hold something that is left out.
    pub(super) before: usize,
    /// Lines end with two signs.
    pub(super) two_signs: bool,
    /// One per column, empty where the file says nothing.
    pub(super) names: Vec<String>,
}

impl Dialect {
    /// Looks at the beginning of a file; `whole` when it is all of it. `None` when it holds no row.
    pub(super) fn of(sample: &str, whole: bool) -> Option<Self> {
        let (sample, said) = strip_separator_line(sample);
        let tried: Vec<u8> = said.map_or_else(|| b",;\t|".to_vec(), |delimiter| vec![delimiter]);
        let fits = tried.into_iter().filter_map(|delimiter| Fit::of(sample, delimiter, whole));
        // The first of equals: a comma, if nothing speaks for anything else.
        let best = fits.reduce(|best, next| if next.score() > best.score() { next } else { best })?;
        let two_signs = sample.contains("\r\n");
        Some(Self { two_signs, ..best.dialect(usize::from(said.is_some())) })
    }
}

/// A sample read with one delimiter.
struct Fit {
    delimiter: u8,
    rows: Vec<StringRecord>,
    width: usize,
    regular: usize,
}

impl Fit {
    fn of(sample: &str, delimiter: u8, whole: bool) -> Option<Self> {
        let mut reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(delimiter)
            .from_reader(sample.as_bytes());
        let mut rows: Vec<StringRecord> = reader.records().take(ROWS).filter_map(Result::ok).collect();
        if !whole && rows.len() < ROWS && rows.len() > 1 {
            // Its last row may be cut.
            rows.pop();
        }
        let mut widths: HashMap<usize, usize> = HashMap::new();
        for row in &rows {
            *widths.entry(row.len()).or_default() += 1;
        }
        let (width, regular) = widths.into_iter().max_by_key(|(width, count)| (*count, *width))?;
        Some(Self { delimiter, rows, width, regular })
    }

    /// A table has rows of one width, and more than one column.
    fn score(&self) -> (bool, usize, usize) {
        (self.width > 1, self.regular * 100 / self.rows.len().max(1), self.width)
    }

    fn dialect(&self, separator_line: usize) -> Dialect {
        let regular = |row: &StringRecord| row.len() == self.width;
        let before = self.rows.iter().take(BEFORE).position(regular).unwrap_or(0);
        let first = self.rows.get(before);
        let next = self.rows.get(before + 1);
        let head = first.filter(|row| is_head(row, next));
        let names = match head {
            Some(row) => row.iter().map(|name| name.trim().to_owned()).collect(),
            None => vec![String::new(); self.width],
        };
        let skip = separator_line + before + usize::from(head.is_some());
        Dialect { delimiter: self.delimiter, skip, marks: separator_line, before, two_signs: false, names }
    }
}

/// The head of a table names its columns: words that differ from each other, not numbers or dates.
fn is_head(row: &StringRecord, next: Option<&StringRecord>) -> bool {
    let cells: Vec<&str> = row.iter().map(str::trim).collect();
    let named = cells.iter().filter(|cell| !cell.is_empty()).count();
    if named == 0 || named * 2 < cells.len() {
        return false;
    }
    let is_word = |cell: &str| cell.is_empty() || Cell::Plain(cell).seen().readings & !(TEXT | ANYTHING) == 0;
    if cells.iter().all(|cell| is_word(cell)) {
        return cells.len() > 1 || next.is_some();
    }
    // Years may head columns too, in their order, under a first name that is a word.
    let years: Vec<i32> =
        cells.iter().skip_while(|cell| is_word(cell)).map_while(|cell| year(cell)).collect();
    let words = cells.iter().take_while(|cell| is_word(cell)).count();
    words > 0
        && years.len() > 1
        && words + years.len() == cells.len()
        && years.windows(2).all(|pair| pair[1] == pair[0] + 1)
}

fn year(text: &str) -> Option<i32> {
    text.parse().ok().filter(|year| (1800..=2200).contains(year) && text.len() == 4)
}

/// A first line such as `sep=;`, which some programs write for others.
fn strip_separator_line(sample: &str) -> (&str, Option<u8>) {
    let Some(rest) = sample.strip_prefix("sep=") else { return (sample, None) };
    match (rest.bytes().next(), rest.find('\n')) {
        (Some(delimiter), Some(end)) if delimiter.is_ascii() && end <= 2 && delimiter != b'"' => {
            (&rest[end + 1..], Some(delimiter))
        }
        _ => (sample, None),
    }
}

/// Whether a row is a table's row at all: binary files have names that end in `.csv` too.
pub(super) fn is_text(sample: &str) -> bool {
    let odd = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t' | '\u{c}');
    let strange = sample.chars().filter(|c| odd(*c)).count();
    !sample.trim().is_empty() && strange * 100 <= sample.len()
}

// What a cell can be beside text decides whether a row is a head; a word such as `yes` counts as a value.
const _: () = assert!(BOOLEAN & (TEXT | ANYTHING) == 0);

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(sample: &str, expected: Expect) {
        let told = Dialect::of(sample, true).map_or("nothing".to_owned(), |dialect| {
            let Dialect { delimiter, skip, before, names, .. } = dialect;
            format!("{:?} skip {skip} before {before} {names:?}", delimiter as char)
        });
        expected.assert_eq(&told);
    }

    #[test]
    fn the_delimiter_is_the_one_that_gives_a_table() {
        check("a,b\n1,2\n", expect![[r#"',' skip 1 before 0 ["a", "b"]"#]]);
        check("a;b\n1,5;2,5\n2,5;1\n", expect![[r#"';' skip 1 before 0 ["a", "b"]"#]]);
        check("a\tb, c\n1\t2\n", expect![[r#"'\t' skip 1 before 0 ["a", "b, c"]"#]]);
        check("a|b\n1|2\n", expect![[r#"'|' skip 1 before 0 ["a", "b"]"#]]);
        check("\"a,x\";\"b\ny\"\n1;2\n", expect![[r#"';' skip 1 before 0 ["a,x", "b\ny"]"#]]);
        check("sep=;\r\na;b\r\n1;2\r\n", expect![[r#"';' skip 2 before 0 ["a", "b"]"#]]);
        check("name\nanna\n", expect![[r#"',' skip 1 before 0 ["name"]"#]]);
        check("", expect!["nothing"]);
    }

    #[test]
    fn a_head_is_words_and_may_be_missing() {
        check("1,2\n3,4\n", expect![[r#"',' skip 0 before 0 ["", ""]"#]]);
        check("anna,2024-01-01\nben,2024-01-02\n", expect![[r#"',' skip 0 before 0 ["", ""]"#]]);
        check("country,2019,2020\nA,1,2\n", expect![[r#"',' skip 1 before 0 ["country", "2019", "2020"]"#]]);
        check("a,,b\n1,2,3\n", expect![[r#"',' skip 1 before 0 ["a", "", "b"]"#]]);
    }

    #[test]
    fn lines_before_the_table_are_passed() {
        check(
            "Konto 12\nStand;heute\n\nTag;Betrag;Text\n01.02.2024;-1,50;Brot\n02.02.2024;-2,50;Milch\n",
            expect![[r#"';' skip 3 before 2 ["Tag", "Betrag", "Text"]"#]],
        );
    }
}
