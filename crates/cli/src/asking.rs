//! Questions on the terminal. They go to standard error, so that standard output stays what was asked for.

use std::io::{self, IsTerminal as _, Write as _};

use crate::exit::Usage;
use crate::terminal::safe;

/// Whether somebody is there to answer.
pub(crate) fn is_answered() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks, and takes what is said; an end of input ends the command.
pub(crate) fn ask(question: &str) -> anyhow::Result<String> {
    write!(io::stderr(), "{} ", safe(question))?;
    io::stderr().flush()?;
    let mut answer = String::new();
    if io::stdin().read_line(&mut answer)? == 0 {
        return Err(Usage("no answer came; nothing was done".to_owned()).into());
    }
    Ok(answer.trim().to_owned())
}

/// Asks again until the answer can be used.
pub(crate) fn ask_until<T>(question: &str, read: impl Fn(&str) -> Result<T, String>) -> anyhow::Result<T> {
    loop {
        match read(&ask(question)?) {
            Ok(value) => return Ok(value),
            Err(wrong) => writeln!(io::stderr(), "  {}", safe(&wrong))?,
        }
    }
}

/// Numbers such as `1,3-5`, each from 1 to `most`, as places from 0; `all` means all.
pub(crate) fn places(text: &str, most: usize) -> Result<Vec<usize>, String> {
    if text.eq_ignore_ascii_case("all") {
        return Ok((0..most).collect());
    }
    let mut places = Vec::new();
    for part in text.split([',', ' ']).filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| text.parse::<usize>().ok().filter(|number| (1..=most).contains(number));
        match (number(first), number(last)) {
            (Some(first), Some(last)) if first <= last => {
                places.extend((first - 1..last).filter(|place| !places.contains(place)).collect::<Vec<_>>());
            }
            _ => return Err(format!("'{part}' is no number from 1 to {most}; write 1,3-5 or all")),
        }
    }
    if places.is_empty() { Err("choose at least one".to_owned()) } else { Ok(places) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_ranges_are_understood() {
        assert_eq!(places("1,3-5", 9), Ok(vec![0, 2, 3, 4]));
        assert_eq!(places("2 2 1", 2), Ok(vec![1, 0]));
        assert_eq!(places("all", 3), Ok(vec![0, 1, 2]));
        for wrong in ["", "0", "4", "3-1", "one", "1-"] {
            assert!(places(wrong, 3).is_err(), "{wrong}");
        }
    }
}
