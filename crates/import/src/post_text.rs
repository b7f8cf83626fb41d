//! Text out of the HTML that services put into their exports.
//!
//! Simple and safe rather than complete: paragraphs and line breaks become line ends, a link whose words hide its
//! address says it, scripts and styles vanish, entities are decoded. Whatever is no tag stays text. One pass, and no
//! recursion, so that hostile text costs no more than its length.

mod entities;

pub(crate) use entities::decode_entities;

/// The words of an HTML fragment, as a person would copy them.
pub(crate) fn html_to_text(html: &str) -> String {
    let mut writer = Writer::default();
    let mut tags = Tags { html, at: 0, trust_quotes: true, last: html.rfind('>') };
    while let Some(piece) = tags.next() {
        match piece {
            Piece::Text(text) => writer.text(&decode_entities(text)),
            Piece::Tag(tag) => writer.tag(&tag),
        }
        if let Some(name) = writer.silent.take() {
            tags.skip_past(name);
        }
    }
    writer.finish()
}

/// The words of an HTML fragment on one line.
pub(crate) fn html_to_line(html: &str) -> String {
    html_to_text(html).split_whitespace().collect::<Vec<_>>().join(" ")
}

enum Piece<'a> {
    Text(&'a str),
    Tag(Tag<'a>),
}

struct Tag<'a> {
    /// In lower case.
    name: String,
    closes: bool,
    attributes: &'a str,
}

impl Tag<'_> {
    /// The value of one attribute, decoded. Names inside another attribute's value are not found.
    fn attribute(&self, wanted: &str) -> Option<String> {
        let mut rest = self.attributes;
        loop {
            rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/');
            let end = rest.find(|c: char| c == '=' || c.is_ascii_whitespace()).unwrap_or(rest.len());
            if rest.is_empty() {
                return None;
            }
            let (name, after) = rest.split_at(end);
            let after = after.trim_start();
            let Some(value) = after.strip_prefix('=').map(str::trim_start) else {
                // A bare name; one byte at least is passed, so this ends.
                rest = if name.is_empty() { after.get(1..).unwrap_or("") } else { after };
                continue;
            };
            let (value, left) = match value.chars().next() {
                Some(quote @ ('"' | '\'')) => value[1..].split_once(quote).unwrap_or((&value[1..], "")),
                _ => value.split_once(|c: char| c.is_ascii_whitespace()).unwrap_or((value, "")),
            };
            if name.eq_ignore_ascii_case(wanted) {
                return Some(decode_entities(value).into_owned());
            }
            rest = left;
        }
    }
}

/// Cuts HTML into text and tags.
struct Tags<'a> {
    html: &'a str,
    at: usize,
    /// Until a quote turns out to have no end.
    trust_quotes: bool,
    /// Where the last tag can end.
    last: Option<usize>,
}

impl<'a> Tags<'a> {
    fn next(&mut self) -> Option<Piece<'a>> {
        let rest = &self.html[self.at..];
        if rest.is_empty() {
            return None;
        }
        if let Some(comment) = rest.strip_prefix("<!--") {
            let length = comment.find("-->").map_or(rest.len(), |end| end + 7);
            self.at += length;
            // An empty text rather than the next piece: a thousand comments are no thousand calls deep.
            return Some(Piece::Text(""));
        }
        if starts_tag(rest)
            && self.last > Some(self.at)
            && let Some(length) = self.tag_length(rest)
        {
            self.at += length;
            return Some(Piece::Tag(read_tag(&rest[1..length - 1])));
        }
        let first = rest.chars().next().map_or(1, char::len_utf8);
        let end = rest[first..].find('<').map_or(rest.len(), |end| end + first);
        self.at += end;
        Some(Piece::Text(&rest[..end]))
    }

    /// How long the tag is, its brackets included; a `>` inside a quoted value does not end it.
    fn tag_length(&mut self, rest: &str) -> Option<usize> {
        let mut quote = None;
        if self.trust_quotes {
            for (index, byte) in rest.bytes().enumerate() {
                match (byte, quote) {
                    (b'>', None) => return Some(index + 1),
                    (b'"' | b'\'', None) => quote = Some(byte),
                    (byte, Some(open)) if byte == open => quote = None,
                    _ => {}
                }
            }
            // Read to the end in vain: from here on quotes mean nothing, or every tag would be read to the end.
            self.trust_quotes = false;
        }
        rest.find('>').map(|end| end + 1)
    }

    /// Passes everything up to and with the closing tag of an element whose contents are not text.
    fn skip_past(&mut self, name: &str) {
        let rest = &self.html.as_bytes()[self.at..];
        let closing =
            |window: &[u8]| window.starts_with(b"</") && window[2..].eq_ignore_ascii_case(name.as_bytes());
        let found = rest.windows(name.len() + 2).position(closing);
        self.at = found.map_or(self.html.len(), |found| self.at + found);
    }
}

fn starts_tag(rest: &str) -> bool {
    let bytes = rest.as_bytes();
    bytes.first() == Some(&b'<')
        && bytes.get(1).is_some_and(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'/' | b'!' | b'?'))
}

fn read_tag(inside: &str) -> Tag<'_> {
    let (closes, inside) = match inside.strip_prefix('/') {
        Some(inside) => (true, inside),
        None => (false, inside),
    };
    let end = inside.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(inside.len());
    Tag { name: inside[..end].to_ascii_lowercase(), closes, attributes: &inside[end..] }
}

/// Puts words and line ends together.
#[derive(Default)]
struct Writer {
    text: String,
    /// Line ends owed before the next word.
    owed: usize,
    /// A space owed before the next word.
    space: bool,
    preformatted: usize,
    /// Where the words of the open link begin, and where it leads.
    link: Option<(usize, String)>,
    /// An element whose contents are to be passed over.
    silent: Option<&'static str>,
}

impl Writer {
    fn text(&mut self, text: &str) {
        if self.preformatted > 0 {
            self.settle();
            self.text.push_str(text);
            return;
        }
        for part in text.split_inclusive(|c: char| c.is_ascii_whitespace()) {
            let word = part.trim_end_matches(|c: char| c.is_ascii_whitespace());
            if !word.is_empty() {
                self.settle();
                self.text.push_str(word);
            }
            self.space |= word.len() < part.len();
        }
    }

    /// Writes what is owed before a word.
    fn settle(&mut self) {
        if self.text.is_empty() {
            self.owed = 0;
        } else if self.owed > 0 {
            self.text.extend(std::iter::repeat_n('\n', self.owed));
        } else if self.space {
            self.text.push(' ');
        }
        (self.owed, self.space) = (0, false);
    }

    fn tag(&mut self, tag: &Tag<'_>) {
        match (tag.name.as_str(), tag.closes) {
            ("br", _) => self.owed += 1,
            ("p" | "blockquote" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "ul" | "ol" | "table", _) => {
                self.owed = self.owed.max(2);
            }
            ("div" | "tr" | "section" | "article" | "header" | "footer" | "hr", _) | ("li", true) => {
                self.owed = self.owed.max(1);
            }
            ("li", false) => {
                self.owed = self.owed.max(1);
                self.text("- ");
            }
            ("td" | "th", _) => self.space = true,
            ("pre", false) => {
                self.owed = self.owed.max(2);
                self.preformatted += 1;
            }
            ("pre", true) => {
                self.owed = self.owed.max(2);
                self.preformatted = self.preformatted.saturating_sub(1);
            }
            ("img", false) => self.text(&tag.attribute("alt").unwrap_or_default()),
            ("script", false) => self.silent = Some("script"),
            ("style", false) => self.silent = Some("style"),
            ("a", false) => {
                self.settle_for_link();
                self.link = tag.attribute("href").map(|href| (self.text.len(), href));
            }
            ("a", true) => self.close_link(),
            _ => {}
        }
    }

    /// The words of a link are told from what stands before it.
    fn settle_for_link(&mut self) {
        if self.owed > 0 || self.space {
            self.settle();
        }
    }

    /// Names and hashtags, and links that show their address, need no address behind them.
    fn close_link(&mut self) {
        let Some((start, href)) = self.link.take() else { return };
        let words = self.text.get(start..).unwrap_or("").trim();
        let leads = ["http://", "https://", "mailto:"].iter().any(|scheme| href.starts_with(scheme));
        let shown =
            |text: &str| text.trim_end_matches('/').rsplit("//").next().unwrap_or(text).to_lowercase();
        let told =
            words.starts_with(['@', '#']) || shown(&href).ends_with(&shown(words)) && words.contains('.');
        if leads && !told {
            self.text(&if words.is_empty() { href } else { format!(" ({href})") });
            self.space = false;
        }
    }

    fn finish(mut self) -> String {
        self.text.truncate(self.text.trim_end().len());
        self.text
    }
}

#[cfg(test)]
mod tests;
