//! Text of format `flowed`: lines that were broken for the way are joined again.

/// Joins lines that end in a blank with the next one of the same quoting. With `delsp` the blank goes too.
pub(super) fn unflow(text: &str, delsp: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut flowing: Option<usize> = None;
    for line in text.split_inclusive('\n') {
        let content = line.trim_end_matches(['\r', '\n']);
        let depth = content.bytes().take_while(|byte| *byte == b'>').count();
        // One blank in front protects a line from being taken for a quote or a separator.
        let body = content[depth..].strip_prefix(' ').unwrap_or(&content[depth..]);
        if flowing != Some(depth) {
            if flowing.is_some() {
                out.push('\n');
            }
            out.extend(std::iter::repeat_n('>', depth));
            if depth > 0 {
                out.push(' ');
            }
        }
        // The line above a signature ends in a blank and flows nowhere.
        let flows = body.ends_with(' ') && body != "-- ";
        out.push_str(if flows && delsp { &body[..body.len() - 1] } else { body });
        flowing = flows.then_some(depth);
        if !flows && line.ends_with('\n') {
            out.push('\n');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_lines_are_joined() {
        assert_eq!(unflow("one \ntwo \nthree\nfour\n", false), "one two three\nfour\n");
        assert_eq!(unflow("one \r\ntwo\r\n", true), "onetwo\n");
        assert_eq!(
            unflow("> quoted \n> text\nanswer \n> other\n", false),
            "> quoted text\nanswer \n> other\n"
        );
        assert_eq!(unflow(" From here\n >not quoted\n", false), "From here\n>not quoted\n");
        assert_eq!(unflow("bye \n-- \nAda\n", false), "bye -- \nAda\n");
        assert_eq!(unflow("hi\n-- \nAda", false), "hi\n-- \nAda");
        assert_eq!(unflow("", false), "");
        assert_eq!(unflow("ends \n", false), "ends ");
    }
}
