//! Searches at random.

use crate::world::{Rng, STREAMS, WORDS, World};

/// One search, as a path with its query.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) path: String,
}

impl Request {
    pub(crate) fn draw(rng: &mut Rng, world: &World) -> Self {
        let count = 1 + rng.below(4);
        let q = (0..count).map(|_| piece(rng)).collect::<Vec<_>>().join(" ");
        let mut path = format!("/v1/search?q={}&limit={}", encode(&q), 1 + rng.below(6));
        let mut add = |name: &str, value: &str| {
            path.push('&');
            path.push_str(name);
            path.push('=');
            path.push_str(value);
        };
        if rng.chance(15) {
            add("order", "newest");
        }
        if rng.chance(15) {
            add("since", &format!("2026-01-{:02}", 1 + rng.below(28)));
        }
        if rng.chance(10) {
            add("until", &format!("2026-01-{:02}", 1 + rng.below(28)));
        }
        if rng.chance(20) {
            add("excerpts", "3");
        }
        let granted: Vec<_> = world.grant.iter().map(|entry| entry.stream).collect();
        let stream = *rng.pick(&granted);
        if rng.chance(25) {
            add("streams", if rng.chance(90) { stream } else { STREAMS[0] });
            if rng.chance(40) {
                add("filter%5Bkind%5D", "a");
            }
        }
        Self { path }
    }
}

fn piece(rng: &mut Rng) -> String {
    let word = *rng.pick(&WORDS);
    match rng.below(20) {
        0 => format!("+{word}"),
        1 => format!("-{word}"),
        2 => format!("\"{word} {}\"", rng.pick(&WORDS)),
        3 => format!("{}*", word.chars().take(3).collect::<String>()),
        4 | 5 => mistyped(rng, word),
        6 => format!("what about {word}?"),
        7 => "nowhere".to_owned(),
        _ => word.to_owned(),
    }
}

fn mistyped(rng: &mut Rng, word: &str) -> String {
    let mut letters: Vec<char> = word.chars().collect();
    if letters.len() > 3 {
        letters.remove(rng.below(letters.len()));
    }
    letters.into_iter().collect()
}

fn encode(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric();
    text.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}
