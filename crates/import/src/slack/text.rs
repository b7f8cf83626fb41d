//! The markup of messages, told in plain words: `<@U1>` becomes a name, `<https://…|label>` a label with its link.

use super::directory::Directory;

/// The text as people read it.
pub(super) fn plain(text: &str, directory: &Directory) -> String {
    let mut told = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        unescape(before, &mut told);
        let Some((inner, behind)) = after.split_once('>') else {
            told.push('<');
            rest = after;
            continue;
        };
        told.push_str(&reference(inner, directory));
        rest = behind;
    }
    unescape(rest, &mut told);
    told
}

/// The ids of the people a text mentions, each once.
pub(super) fn mentions(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for part in text.split("<@").skip(1) {
        let id = part.split(['>', '|']).next().unwrap_or_default();
        if !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric()) && !found.contains(&id) {
            found.push(id);
        }
    }
    found
}

fn reference(inner: &str, directory: &Directory) -> String {
    let (target, label) = match inner.split_once('|') {
        Some((target, label)) => (target, Some(label).filter(|label| !label.is_empty())),
        None => (inner, None),
    };
    let named = |known: Option<&str>, id: &str| known.or(label).unwrap_or(id).to_owned();
    let mut told = String::new();
    let mut characters = target.chars();
    match characters.next() {
        Some('@') => told = format!("@{}", named(directory.person(characters.as_str()), characters.as_str())),
        Some('#') => {
            told = format!("#{}", named(directory.channel_name(characters.as_str()), characters.as_str()));
        }
        Some('!') => told = special(characters.as_str(), label),
        _ => unescape(&link(target, label), &mut told),
    }
    told
}

/// `!here`, `!subteam^S1|@crew`, `!date^1700000000^{date}|the fallback`.
fn special(target: &str, label: Option<&str>) -> String {
    let word = target.split('^').next().unwrap_or(target);
    match (word, label) {
        ("here" | "channel" | "everyone", _) => format!("@{word}"),
        ("subteam", None) => "@group".to_owned(),
        (_, Some(label)) => label.to_owned(),
        _ => word.to_owned(),
    }
}

fn link(target: &str, label: Option<&str>) -> String {
    let bare = |link: &str| {
        let start =
            ["mailto:", "tel:", "https://", "http://"].iter().find_map(|scheme| link.strip_prefix(scheme));
        start.unwrap_or(link).trim_end_matches('/').to_owned()
    };
    match label {
        Some(label) if bare(label) != bare(target) => format!("{label} ({target})"),
        Some(label) => label.to_owned(),
        None => target
            .strip_prefix("mailto:")
            .or_else(|| target.strip_prefix("tel:"))
            .unwrap_or(target)
            .to_owned(),
    }
}

/// Slack escapes three characters and no others.
fn unescape(text: &str, told: &mut String) {
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        told.push_str(&rest[..at]);
        rest = &rest[at..];
        let escapes = [("&amp;", '&'), ("&lt;", '<'), ("&gt;", '>')];
        let find = |(escape, plain): &(&str, char)| rest.strip_prefix(escape).map(|after| (after, *plain));
        let (after, plain) = escapes.iter().find_map(find).unwrap_or((&rest[1..], '&'));
        told.push(plain);
        rest = after;
    }
    told.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let mut directory = Directory::default();
        directory.add_person("U1", "Ana Lima");
        assert_eq!(plain(text, &directory), expected);
    }

    #[test]
    fn markup_becomes_words() {
        check("hi <@U1> and <@U2|bo>, <@U3>", "hi @Ana Lima and @bo, @U3");
        check("see <#C1|dock> <#C2>", "see #dock #C2");
        check("<!here> <!subteam^S1|@crew> <!subteam^S2> <!date^1^{date}|1 May>", "@here @crew @group 1 May");
        check(
            "<https://a.example/x|the plan> <https://a.example/>",
            "the plan (https://a.example/x) https://a.example/",
        );
        check("<mailto:a@b.example|a@b.example> <http://b.example|b.example>", "a@b.example b.example");
        check("1 &lt; 2 &amp;&amp; 3 &gt; 2 &copy; &", "1 < 2 && 3 > 2 &copy; &");
        check("a < b and <", "a < b and <");
        check("<>|", "|");
    }

    #[test]
    fn mentions_are_ids_each_once() {
        assert_eq!(mentions("<@U1> <@U2|x> <@U1> <@> <@a b> <@U9"), ["U1", "U2", "U9"]);
    }
}
