//! Splits a line of shell into the commands it starts, for reading and not for running.

/// The words of each command in the line: pipes, lists and substitutions start new ones.
pub(super) fn commands(line: &str) -> Vec<Vec<String>> {
    let mut splitter = Splitter::default();
    let mut characters = line.chars().peekable();
    let mut quote = None;
    // The quote each open parenthesis interrupted, which its closing takes up again.
    let mut interrupted = Vec::new();
    while let Some(c) = characters.next() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (Some('\''), _) => splitter.push(c),
            (_, '$') if characters.peek() == Some(&'(') => {
                characters.next();
                splitter.end_command();
                interrupted.push(quote.take());
            }
            (None, '\'' | '"') => {
                quote = Some(c);
                splitter.word.get_or_insert_default();
            }
            (None, '\\') => characters.next().into_iter().for_each(|escaped| splitter.push(escaped)),
            (None, '#') if splitter.word.is_none() => break,
            (None, '(') => {
                splitter.end_command();
                interrupted.push(None);
            }
            (None, ')') => {
                splitter.end_command();
                quote = interrupted.pop().flatten();
            }
            (None, '|' | ';' | '&' | '`') => splitter.end_command(),
            (None, _) if c.is_whitespace() => splitter.end_word(),
            _ => splitter.push(c),
        }
    }
    splitter.end_command();
    splitter.commands
}

#[derive(Default)]
struct Splitter {
    commands: Vec<Vec<String>>,
    words: Vec<String>,
    word: Option<String>,
}

impl Splitter {
    fn push(&mut self, c: char) {
        self.word.get_or_insert_default().push(c);
    }

    fn end_word(&mut self) {
        self.words.extend(self.word.take());
    }

    fn end_command(&mut self) {
        self.end_word();
        if !self.words.is_empty() {
            self.commands.push(std::mem::take(&mut self.words));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: &[&[&str]]) {
        assert_eq!(commands(line), expected, "{line}");
    }

    #[test]
    fn words_are_split_and_quotes_removed() {
        check("pdpp import 'my file' --format=jsonl", &[&["pdpp", "import", "my file", "--format=jsonl"]]);
        check(r#"pdpp a "b c" d\ e ''"#, &[&["pdpp", "a", "b c", "d e", ""]]);
    }

    #[test]
    fn comments_are_left_out() {
        check("pdpp demo # the first thing to try", &[&["pdpp", "demo"]]);
        check("# only a comment", &[]);
        check("curl a#b", &[&["curl", "a#b"]]);
    }

    #[test]
    fn pipes_lists_and_substitutions_start_commands() {
        check(
            "pdpp streams | head && pdpp audit; ls &",
            &[&["pdpp", "streams"], &["head"], &["pdpp", "audit"], &["ls"]],
        );
        check("TOKEN=$(pdpp owner token --json)", &[&["TOKEN="], &["pdpp", "owner", "token", "--json"]]);
        check(
            r#"curl -H "Bearer $(pdpp owner token)""#,
            &[&["curl", "-H", "Bearer "], &["pdpp", "owner", "token"]],
        );
    }
}
