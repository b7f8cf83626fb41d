//! Polls, which are exported as lines: `POLL:`, the question, and `OPTION: text (3 votes)` for each choice.

use serde_json::{Value, json};

use super::marks::clean;
use super::phrases::{is_choice, is_poll};

#[derive(Debug, PartialEq)]
pub(super) struct Poll {
    pub(super) question: String,
    pub(super) choices: Vec<Value>,
}

pub(super) fn parse(text: &str) -> Option<Poll> {
    let mut lines = text.lines().map(clean).filter(|line| !line.is_empty());
    let (word, first) = split(&lines.next()?)?;
    if !is_poll(&word) {
        return None;
    }
    let mut question = first;
    let mut choices = Vec::new();
    for line in lines {
        match split(&line) {
            Some((word, choice)) if is_choice(&word) => choices.push(told(&choice)),
            _ if choices.is_empty() => {
                if !question.is_empty() {
                    question.push('\n');
                }
                question.push_str(&line);
            }
            _ => {}
        }
    }
    (!choices.is_empty()).then_some(Poll { question, choices })
}

fn split(line: &str) -> Option<(String, String)> {
    let (word, rest) = line.split_once([':', '：'])?;
    Some((word.trim().to_owned(), rest.trim().to_owned()))
}

/// `text (3 votes)`: the number in the last brackets, whatever the language calls it.
fn told(choice: &str) -> Value {
    let counted = choice.strip_suffix(')').and_then(|rest| rest.rsplit_once('('));
    let votes = counted.and_then(|(text, count)| {
        let digits: String = count.chars().filter(char::is_ascii_digit).collect();
        digits.parse::<u32>().ok().map(|votes| (text.trim_end(), votes))
    });
    match votes {
        Some((text, votes)) => json!({"text": text, "votes": votes}),
        None => json!({"text": choice}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_poll_is_a_question_with_choices() {
        let poll =
            parse("POLL:\nWhere to?\n\u{200e}OPTION: Lake (near) (2 votes)\n\u{200e}OPTION: Hill (1 vote)")
                .unwrap();
        assert_eq!(poll.question, "Where to?");
        assert_eq!(
            poll.choices,
            [json!({"text": "Lake (near)", "votes": 2}), json!({"text": "Hill", "votes": 1})]
        );
        assert_eq!(parse("poll: who knows"), None);
        assert_eq!(parse("hello"), None);
    }
}
