//! What stands in a Markdown text: headings, tags, links and tasks.

use std::collections::HashSet;
use std::ops::Range;

use percent_encoding::percent_decode_str;
use pulldown_cmark::{CowStr, Event, LinkType, Options, Parser, Tag, TagEnd};
use serde_json::Value;

/// Most of each that is kept of one note; the text itself holds them all.
const MOST: usize = 5000;

/// Longest heading, in characters, that is kept as one.
const LONGEST_HEADING: usize = 1000;
/// Longest tag, in bytes. Longer ones are no words anybody wrote.
const LONGEST_TAG: usize = 200;

/// What was found in a note.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Level and text.
    pub(super) headings: Vec<(usize, String)>,
    /// Without `#`, each once, in the order they come.
    pub(super) tags: Vec<String>,
    pub(super) links: Vec<Link>,
    pub(super) open_tasks: usize,
    pub(super) done_tasks: usize,
}

/// A link as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) kind: &'static str,
    /// Where it leads, without the place in the note.
    pub(super) target: String,
    /// The heading or block it leads to.
    pub(super) anchor: Option<String>,
    /// The words it stands on.
    pub(super) text: String,
    /// Whether it leads out of the notes.
    pub(super) is_external: bool,
}

impl Link {
    fn wiki(kind: &'static str, target: &str) -> Self {
        let (target, anchor) = match target.split_once('#') {
            Some((target, anchor)) => (target, Some(anchor.to_owned())),
            None => (target, None),
        };
        Self { kind, target: target.trim().to_owned(), anchor, text: String::new(), is_external: false }
    }

    fn url(kind: &'static str, target: &str) -> Self {
        if has_scheme(target) {
            return Self {
                kind,
                target: target.to_owned(),
                anchor: None,
                text: String::new(),
                is_external: true,
            };
        }
        let decoded = percent_decode_str(target).decode_utf8_lossy();
        Self::wiki(kind, &decoded)
    }
}

/// Whether a target names a way out: `https:`, `mailto:`, but not `C:` or a word and a colon in a file's name.
fn has_scheme(target: &str) -> bool {
    let Some((scheme, rest)) = target.split_once(':') else { return false };
    let is_word = scheme.len() > 1 && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+.-".contains(c));
    is_word && scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && !rest.starts_with(' ')
}

/// Walks a text.
pub(super) fn read(text: &str) -> Found {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_WIKILINKS;
    let mut walk = Walk { text, ..Walk::default() };
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        walk.take(event, range);
    }
    walk.found
}

/// The wiki links in the texts of a note's front matter.
pub(super) fn links_of_properties(value: &Value, links: &mut Vec<Link>) {
    match value {
        Value::String(text) => {
            let mut rest = text.as_str();
            while let Some((_, after)) = rest.split_once("[[") {
                let Some((inner, after)) = after.split_once("]]") else { break };
                let (target, words) = inner.split_once('|').unwrap_or((inner, inner));
                let link = Link { text: words.to_owned(), ..Link::wiki("property", target) };
                if !link.target.is_empty() && links.len() < MOST {
                    links.push(link);
                }
                rest = after;
            }
        }
        Value::Array(items) => items.iter().for_each(|item| links_of_properties(item, links)),
        // Front matter is at most 32 deep.
        Value::Object(members) => members.values().for_each(|item| links_of_properties(item, links)),
        _ => {}
    }
}

#[derive(Default)]
struct Walk<'t> {
    text: &'t str,
    found: Found,
    known_tags: HashSet<String>,
    heading: Option<(usize, String)>,
    /// Links inside each other: a picture in a link.
    open: Vec<Link>,
    in_code: bool,
}

impl Walk<'_> {
    fn take(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(Tag::Heading { level, .. }) => self.heading = Some((level as usize, String::new())),
            Event::End(TagEnd::Heading(_)) => {
                let heading = self.heading.take().map(|(level, text)| {
                    (level, text.trim().chars().take(LONGEST_HEADING).collect::<String>())
                });
                let heading =
                    heading.filter(|(_, text)| !text.is_empty() && self.found.headings.len() < MOST);
                self.found.headings.extend(heading);
            }
            Event::Start(Tag::CodeBlock(_)) => self.in_code = true,
            Event::End(TagEnd::CodeBlock) => self.in_code = false,
            Event::Start(Tag::Link { link_type, dest_url, .. }) => {
                self.open.push(link(link_type, &dest_url, "wiki", "markdown"));
            }
            Event::Start(Tag::Image { link_type, dest_url, .. }) => {
                self.open.push(link(link_type, &dest_url, "embed", "image"));
            }
            Event::End(TagEnd::Link | TagEnd::Image) => self.close_link(),
            Event::TaskListMarker(true) => self.found.done_tasks += 1,
            Event::TaskListMarker(false) => self.found.open_tasks += 1,
            Event::Text(words) => {
                self.say(&words);
                if !self.in_code && self.open.is_empty() {
                    self.find_tags(range);
                }
            }
            Event::Code(words) => self.say(&words),
            Event::SoftBreak | Event::HardBreak => self.say(&CowStr::Borrowed(" ")),
            _ => {}
        }
    }

    fn say(&mut self, words: &str) {
        if let Some((_, text)) = &mut self.heading {
            text.push_str(words);
        }
        if let Some(link) = self.open.last_mut() {
            link.text.push_str(words);
        }
    }

    fn close_link(&mut self) {
        let Some(link) = self.open.pop() else { return };
        // A link to a heading of the same note leads nowhere else, and neither does a picture written out in the text.
        let leads = !link.target.is_empty() && !link.target.starts_with("data:");
        if leads && self.found.links.len() < MOST {
            self.found.links.push(link);
        }
    }

    /// Words after a `#` that stands at the beginning or after a space.
    fn find_tags(&mut self, range: Range<usize>) {
        let Some(words) = self.text.get(range.clone()) else { return };
        for (at, _) in words.match_indices('#') {
            let before = self.text[..range.start + at].chars().next_back();
            if before.is_some_and(|c| !c.is_whitespace()) {
                continue;
            }
            let after = &words[at + 1..];
            let end = after.find(|c: char| !is_tag_character(c)).unwrap_or(after.len());
            let tag = after[..end].trim_end_matches('/');
            // A number alone is no tag: people write `#1`.
            if tag.chars().any(|c| !c.is_ascii_digit() && c != '/') {
                self.add_tag(tag);
            }
        }
    }

    fn add_tag(&mut self, tag: &str) {
        if tag.len() <= LONGEST_TAG && self.found.tags.len() < MOST && self.known_tags.insert(tag.to_owned())
        {
            self.found.tags.push(tag.to_owned());
        }
    }
}

fn link(link_type: LinkType, target: &str, wiki: &'static str, url: &'static str) -> Link {
    match link_type {
        LinkType::WikiLink { .. } => Link::wiki(wiki, target),
        LinkType::Email => Link { is_external: true, ..Link::wiki(url, &format!("mailto:{target}")) },
        _ => Link::url(url, target),
    }
}

/// Letters, digits, signs of other scripts and pictures, and the three marks a tag may hold.
fn is_tag_character(c: char) -> bool {
    c.is_alphanumeric() || "_-/".contains(c) || (!c.is_ascii() && !c.is_whitespace() && !is_punctuation(c))
}

/// The marks of other scripts that end a word, and typographic quotes and dashes.
fn is_punctuation(c: char) -> bool {
    matches!(c, '\u{80}'..='\u{bf}' | '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205e}' | '\u{3000}'..='\u{3003}'
        | '\u{3008}'..='\u{301f}' | '\u{ff00}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff20}')
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Expect) {
        let found = read(text);
        let mut told = String::new();
        for (level, heading) in &found.headings {
            writeln!(told, "{} {heading}", "#".repeat(*level)).unwrap();
        }
        for Link { kind, target, anchor, text, is_external } in &found.links {
            let out = if *is_external { " (out)" } else { "" };
            writeln!(told, "{kind}: {target} {} \"{text}\"{out}", anchor.as_deref().unwrap_or("-")).unwrap();
        }
        writeln!(told, "tags {:?} tasks {}/{}", found.tags, found.open_tasks, found.done_tasks).unwrap();
        expected.assert_eq(&told);
    }

    #[test]
    fn links_of_all_kinds_are_found() {
        check(
            "# A `b` c\n[[Note]] [[dir/Note#Head|alias]] ![[pic.png|300]] [x](My%20Note.md#there) \
             ![alt](img/a.png) <https://example.org/a> [out](https://example.org \"t\") [ref][r] [[#here]] [s](#self) \
             ![d](data:image/png;base64,AA) [![in](pic.jpg)](https://example.org/b)\n\n[r]: Other.md\n\n`[[code]]`\n\n```\n[[block]] #code\n```\n",
            expect![[r#"
                # A b c
                wiki: Note - "Note"
                wiki: dir/Note Head "alias"
                embed: pic.png - "300"
                markdown: My Note.md there "x"
                image: img/a.png - "alt"
                markdown: https://example.org/a - "https://example.org/a" (out)
                markdown: https://example.org - "out" (out)
                markdown: Other.md - "ref"
                image: pic.jpg - "in"
                markdown: https://example.org/b - "" (out)
                tags [] tasks 0/0
            "#]],
        );
    }

    #[test]
    fn tags_stand_alone_and_tasks_are_counted() {
        check(
            "#one, (#no) #two/three a#no \\#no #1 #1a *x* #emph* [#no](a.md) #\u{e9}t\u{e9} #\u{1f41f} #one `#no`\n\n- [ ] x\n- [x] y #two/three/\n- [X] z\n",
            expect![[r##"
                markdown: a.md - "#no"
                tags ["one", "two/three", "1a", "emph", "été", "🐟"] tasks 1/2
            "##]],
        );
    }

    #[test]
    fn absurd_texts_come_to_an_end() {
        for odd in ["[[", "![[a|", "> ", "- ", "[a](", "`", "#", "*a **b ", "| a "] {
            read(&odd.repeat(20_000));
        }
    }
}
