//! HTML to the text a person would read.
//!
//! One pass without a tree: mail and documents carry broken markup of any size, and searching needs words and lines,
//! not a layout. What is not shown (scripts, styles, comments) is left out; blocks end lines and cells stay apart.

use mail_parser::decoders::html::add_html_token;

/// Longest entity name that is looked up.
const LONGEST_ENTITY: usize = 32;

/// The text, at most `most` bytes of it.
pub(crate) fn html_to_text(html: &str, most: usize) -> String {
    let mut text = Text { out: String::new(), most, space: false, preformatted: 0 };
    let mut rest = html;
    while let Some(at) = rest.find(['<', '&']) {
        text.words(&rest[..at]);
        if text.is_full() {
            break;
        }
        rest = if rest.as_bytes()[at] == b'&' { text.entity(&rest[at..]) } else { text.markup(&rest[at..]) };
    }
    if !text.is_full() {
        text.words(rest);
    }
    text.finish()
}

struct Text {
    out: String,
    most: usize,
    /// Whether a space is owed before the next word.
    space: bool,
    preformatted: usize,
}

impl Text {
    fn is_full(&self) -> bool {
        self.out.len() >= self.most
    }

    fn words(&mut self, words: &str) {
        if self.preformatted > 0 {
            self.out.extend(words.chars().filter(|letter| *letter != '\r'));
            return;
        }
        for letter in words.chars() {
            self.letter(letter);
        }
    }

    fn letter(&mut self, letter: char) {
        // What newsletters fill their preview with: invisible, and in the way of every search.
        if matches!(letter, '\u{34f}' | '\u{200b}' | '\u{200c}' | '\u{2060}' | '\u{feff}' | '\u{ad}') {
            return;
        }
        if matches!(letter, ' ' | '\t' | '\r' | '\n' | '\u{c}' | '\u{a0}') {
            self.space = true;
            return;
        }
        if self.space && !self.out.is_empty() && !self.out.ends_with(['\n', ' ']) {
            self.out.push(' ');
        }
        self.space = false;
        self.out.push(letter);
    }

    /// A line ends here, unless it has already.
    fn end_line(&mut self) {
        self.space = false;
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
    }

    /// A paragraph ends here: one empty line, never two.
    fn end_block(&mut self) {
        self.end_line();
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    fn entity<'h>(&mut self, rest: &'h str) -> &'h str {
        let head = &rest.as_bytes()[1..rest.len().min(LONGEST_ENTITY)];
        let named = head.iter().position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'#');
        if let Some(end) = named.filter(|end| *end > 0 && head[*end] == b';') {
            let mut decoded = String::new();
            add_html_token(&mut decoded, &rest.as_bytes()[..end + 2], false);
            self.words(&decoded);
            return &rest[end + 2..];
        }
        self.letter('&');
        &rest[1..]
    }

    fn markup<'h>(&mut self, rest: &'h str) -> &'h str {
        if let Some(comment) = rest.strip_prefix("<!--") {
            return comment.find("-->").map_or("", |end| &comment[end + 3..]);
        }
        let inside = &rest[1..];
        if !inside
            .starts_with(|letter: char| letter.is_ascii_alphabetic() || matches!(letter, '/' | '!' | '?'))
        {
            self.letter('<');
            return inside;
        }
        let Some(end) = tag_end(inside) else { return "" };
        let (tag, after) = (&inside[..end], &inside[end + 1..]);
        let closing = tag.starts_with('/');
        let name = tag.trim_start_matches('/').split(|letter: char| !letter.is_ascii_alphanumeric()).next();
        let name = name.unwrap_or_default().to_ascii_lowercase();
        match name.as_str() {
            "script" | "style" | "head" | "template" | "svg" if !closing && !tag.ends_with('/') => {
                return skip_element(after, &name);
            }
            "br" => {
                self.space = false;
                self.out.push('\n');
            }
            "p" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "blockquote" | "ul" | "ol" | "table" | "hr" => {
                self.end_block();
            }
            "pre" => {
                self.end_block();
                self.preformatted =
                    if closing { self.preformatted.saturating_sub(1) } else { self.preformatted + 1 };
            }
            "li" if !closing => {
                self.end_line();
                self.out.push_str("- ");
            }
            "div" | "li" | "tr" | "dt" | "dd" | "section" | "article" | "header" | "footer" | "address"
            | "form" | "center" | "title" | "option" => self.end_line(),
            "td" | "th" => self.space = true,
            "img" => self.alternative(tag),
            _ => {}
        }
        after
    }

    /// The words that stand for a picture.
    fn alternative(&mut self, tag: &str) {
        let lower = tag.to_ascii_lowercase();
        let Some(at) = lower.find(" alt=\"") else { return };
        let words = &tag[at + 6..];
        if let Some(end) = words.find('"').filter(|end| (1..200).contains(end)) {
            self.space = true;
            self.words(&words[..end]);
            self.space = true;
        }
    }

    fn finish(mut self) -> String {
        if self.out.len() > self.most {
            self.out.truncate(self.out.floor_char_boundary(self.most));
        }
        self.out.truncate(self.out.trim_end().len());
        self.out.drain(..self.out.len() - self.out.trim_start_matches('\n').len());
        self.out
    }
}

/// Where a tag ends: at the first `>` outside quotes. A quote that never closes is no quote.
fn tag_end(inside: &str) -> Option<usize> {
    let bytes = inside.as_bytes();
    let mut quote = None;
    for (at, byte) in bytes.iter().enumerate() {
        match (quote, byte) {
            (None, b'>') => return Some(at),
            // Only after `=` does a quote begin a value; elsewhere it is an apostrophe.
            (None, b'"' | b'\'') if at > 0 && matches!(bytes[at - 1], b'=' | b' ') => quote = Some(*byte),
            (Some(open), byte) if open == *byte => quote = None,
            // Values are short; an open quote that runs on would swallow the document.
            (Some(_), _) if at > 64 * 1024 => break,
            _ => {}
        }
    }
    bytes.iter().position(|byte| *byte == b'>')
}

/// What follows the end of an element whose content is not shown.
fn skip_element<'h>(after: &'h str, name: &str) -> &'h str {
    let bytes = after.as_bytes();
    let mut from = 0;
    while let Some(at) = after[from..].find("</") {
        let start = from + at + 2;
        if bytes[start..].len() >= name.len()
            && bytes[start..start + name.len()].eq_ignore_ascii_case(name.as_bytes())
        {
            return after[start..].find('>').map_or("", |end| &after[start + end + 1..]);
        }
        from = start;
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(html: &str, expected: &str) {
        assert_eq!(html_to_text(html, 10_000), expected);
    }

    #[test]
    fn blocks_end_lines_and_cells_stay_apart() {
        check("<p>One</p><p>Two  <b>bold</b>\n end</p>", "One\n\nTwo bold end");
        check("<div>a</div><div>b<br>c</div>", "a\nb\nc");
        check(
            "<table><tr><td>Sum</td><td>12</td></tr><tr><td>Tax</td><td>3</td></tr></table>",
            "Sum 12\nTax 3",
        );
        check("<ul><li>milk<li>bread</ul>", "- milk\n- bread");
        check("<pre>a  b\n  c</pre>d", "a  b\n  c\n\nd");
    }

    #[test]
    fn what_is_not_shown_is_left_out() {
        check("<head><title>T</title><style>p{}</style></head><body>seen<!-- <p>not --></body>", "seen");
        check("<SCRIPT>if (a < b) {'</p>'}</SCRIPT>seen<script>never closed", "seen");
        check("<img src=x alt=\"a map\"><img alt=\"\">here", "a map here");
        check("zero\u{200b}width\u{ad}", "zerowidth");
    }

    #[test]
    fn entities_and_broken_markup_stay_readable() {
        check(
            "Fish &amp; chips &lt;3 &euro;5 &#8364; &#x41; &nosuch; AT&T",
            "Fish & chips <3 €5 € A &nosuch; AT&T",
        );
        check("1 < 2 and <a title=\"x > y\">link</a>", "1 < 2 and link");
        check("cut <a href=\"http", "cut");
        check("it's <b>'quoted'</b>", "it's 'quoted'");
        check("<", "<");
        check("&", "&");
        check("é<p>ü", "é\n\nü");
    }

    #[test]
    fn output_and_work_are_bounded() {
        assert_eq!(html_to_text(&"é".repeat(100), 9), "éééé");
        for hostile in ["<", "<a \"", "&", "<!--", "<script>", "</", "<div>", "<pre>", "<a='"] {
            html_to_text(&hostile.repeat(200_000), 1_000_000);
        }
    }
}
