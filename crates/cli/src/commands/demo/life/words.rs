//! Templates: `{word}` is chosen once for a whole piece, `[this|that]` each time it occurs.

use std::collections::BTreeMap;

use super::random::Random;

const LISTS: &str = include_str!("words.txt");

/// The lists to choose from.
#[derive(Debug)]
pub(super) struct Words(BTreeMap<&'static str, Vec<&'static str>>);

impl Words {
    pub(super) fn read() -> Self {
        let lists = LISTS.lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
            let (name, choices) = line.split_once(" = ")?;
            Some((name, choices.split(" | ").collect()))
        });
        Self(lists.collect())
    }

    /// A piece in which nothing is chosen yet.
    pub(super) fn piece(&self) -> Piece<'_> {
        Piece { words: self, chosen: BTreeMap::new() }
    }
}

/// The choices of one piece: a conversation, a letter, a note.
#[derive(Debug)]
pub(super) struct Piece<'w> {
    words: &'w Words,
    chosen: BTreeMap<String, String>,
}

impl Piece<'_> {
    /// Says what a word stands for here.
    pub(super) fn put(&mut self, name: &str, value: impl Into<String>) {
        self.chosen.insert(name.to_owned(), value.into());
    }

    /// The template with every choice made.
    pub(super) fn fill(&mut self, template: &str, random: &mut Random) -> String {
        let template = alternatives(template, random);
        let mut out = String::with_capacity(template.len());
        let mut rest = template.as_str();
        while let Some((before, after)) = rest.split_once('{') {
            let (name, after) = after.split_once('}').unwrap_or((after, ""));
            out.push_str(before);
            out.push_str(&self.word(name, random));
            rest = after;
        }
        out.push_str(rest);
        out
    }

    fn word(&mut self, name: &str, random: &mut Random) -> String {
        if let Some(known) = self.chosen.get(name) {
            return known.clone();
        }
        let value = if let Some(person) = name.strip_suffix("_address") {
            self.word(person, random).to_lowercase()
        } else {
            self.choose(name.trim_end_matches(|last: char| last.is_ascii_digit()), random)
        };
        self.chosen.insert(name.to_owned(), value.clone());
        value
    }

    /// Another choice than those already made from the same list.
    fn choose(&self, list: &str, random: &mut Random) -> String {
        let choices = self.words.0.get(list).map(Vec::as_slice).unwrap_or_default();
        let free: Vec<&str> = choices
            .iter()
            .copied()
            .filter(|word| !self.chosen.values().any(|chosen| chosen == word))
            .collect();
        if free.is_empty() { list.to_owned() } else { (*random.pick(&free)).to_owned() }
    }
}

/// Chooses between `[this|that]`; brackets without a bar stay, as in a list of tasks.
fn alternatives(template: &str, random: &mut Random) -> String {
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('[') {
        out.push_str(before);
        match after.split_once(']') {
            Some((inside, after)) if inside.contains('|') => {
                let choices: Vec<&str> = inside.split('|').collect();
                let chosen: &&str = random.pick(&choices);
                out.push_str(chosen);
                rest = after;
            }
            _ => {
                out.push('[');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

/// The blocks of a template file: what stands after `@`, and the lines below it.
pub(super) fn blocks(file: &'static str) -> Vec<(&'static str, &'static str)> {
    let all = file.split("\n@ ").skip(1);
    all.filter_map(|block| block.split_once('\n')).map(|(head, body)| (head.trim(), body.trim())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_the_same_all_through_a_piece_and_its_second_is_another() {
        let (words, mut random) = (Words::read(), Random::new(7));
        for _ in 0..50 {
            let filled = words.piece().fill("{food}/{food}/{food2}", &mut random);
            let parts: Vec<&str> = filled.split('/').collect();
            assert!(parts[0] == parts[1] && parts[0] != parts[2], "{filled}");
        }
    }

    #[test]
    fn every_word_of_every_template_is_in_a_list() {
        let (words, mut random) = (Words::read(), Random::new(1));
        let given = ["order_number", "order_lines", "order_total", "month_name"];
        for file in [include_str!("scenes.txt"), include_str!("letters.txt"), include_str!("notes.txt")] {
            for (_, text) in blocks(file) {
                let mut piece = words.piece();
                for name in given {
                    piece.put(name, "x");
                }
                piece.fill(text, &mut random);
                for (name, value) in &piece.chosen {
                    assert_ne!(name, value, "no list is called {name}");
                }
            }
        }
    }

    #[test]
    fn tasks_are_no_alternatives() {
        let filled = alternatives("- [ ] a\n- [x] b [c|c]", &mut Random::new(1));
        assert_eq!(filled, "- [ ] a\n- [x] b c");
    }
}
