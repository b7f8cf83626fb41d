//! Just enough of an HTML reader for pages that escape every `<` of a text.

use std::collections::BTreeMap;

/// One start or end tag.
#[derive(Clone, Debug)]
pub(crate) struct Tag {
    pub(crate) name: String,
    pub(crate) attributes: BTreeMap<String, String>,
    /// Where it ends in the page.
    pub(crate) end: usize,
}

impl Tag {
    pub(crate) fn get(&self, name: &str) -> &str {
        self.attributes.get(name).map_or("", String::as_str)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.attributes.contains_key(name)
    }
}

/// Every tag of a page, in order.
pub(crate) fn tags(html: &str) -> Vec<Tag> {
    let mut tags = Vec::new();
    let mut at = 0;
    while let Some(start) = html[at..].find('<').map(|found| at + found + 1) {
        let mut quoted = false;
        let end = html[start..]
            .char_indices()
            .find(|(_, c)| {
                quoted ^= *c == '"';
                *c == '>' && !quoted
            })
            .map_or(html.len(), |(found, _)| start + found);
        tags.push(read(&html[start..end], end + 1));
        at = (end + 1).min(html.len());
    }
    tags
}

fn read(text: &str, end: usize) -> Tag {
    let (name, mut rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let mut attributes = BTreeMap::new();
    loop {
        rest = rest.trim_start();
        if rest.is_empty() {
            return Tag { name: name.to_owned(), attributes, end };
        }
        let stop = rest.find(|c: char| c == '=' || c.is_whitespace()).unwrap_or(rest.len());
        let key = rest[..stop].to_owned();
        rest = &rest[stop..];
        let mut value = String::new();
        if let Some(after) = rest.strip_prefix("=\"") {
            let close = after.find('"').expect("attributes are quoted");
            value = unescape(&after[..close]);
            rest = &after[close + 1..];
        }
        assert!(attributes.insert(key.clone(), value).is_none(), "{key} stands twice in <{text}>");
    }
}

/// The text of a piece of a page, without its tags.
pub(crate) fn text(html: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for c in html.chars() {
        match c {
            '<' => inside = true,
            '>' => inside = false,
            c if !inside => out.push(c),
            _ => {}
        }
    }
    unescape(&out).split_whitespace().collect::<Vec<_>>().join(" ")
}

pub(crate) fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        out.push_str(before);
        let (entity, after) = after.split_once(';').expect("an entity ends");
        out.push(match entity {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            number => {
                let number = number.strip_prefix('#').expect("a known entity");
                char::from_u32(number.parse().unwrap()).unwrap()
            }
        });
        rest = after;
    }
    out.push_str(rest);
    out
}
