//! Cases for `preview`: short inputs, whole expected outputs.

use expect_test::{Expect, expect};
use unicode_segmentation::UnicodeSegmentation;

use super::*;
use crate::{fold::find_folded, random::Random};

const STORY: &str = "The quarterly report was finished late on Friday evening, long after the building had emptied. \
    Anna had sent the invoice to the wrong address twice, and the accountant in Lisbon kept asking for a copy \
    that nobody could find. On Monday the missing invoice turned up between two pages of a travel magazine, and \
    everyone agreed to scan such things at once from then on, whatever the hour and however small the amount.";

fn find(text: &str, query: &str) -> Vec<Range<usize>> {
    find_folded(text, query).into_iter().collect()
}

#[track_caller]
fn check(text: &str, query: &str, expected: Expect) {
    check_within(text, query, PreviewBudget::STANDARD, expected);
}

#[track_caller]
fn check_within(text: &str, query: &str, budget: PreviewBudget, expected: Expect) {
    let cut = preview(text, &find(text, query), budget);
    hold_promises(text, &cut, budget);
    expected.assert_eq(&format!(
        "{}..{}/{}\n{}",
        cut.start_chars,
        cut.end_chars,
        cut.total_chars,
        render_marked(&cut)
    ));
}

#[track_caller]
fn hold_promises(text: &str, cut: &Preview, budget: PreviewBudget) {
    let length = cut.text.chars().count();
    assert_eq!(cut.end_chars - cut.start_chars, length);
    assert_eq!(cut.text, scalars::slice(text, cut.start_chars, cut.end_chars));
    assert_eq!(cut.truncated, cut.text != text);
    assert!(length <= budget.max, "{length}");
    assert!(length >= budget.min.min(cut.total_chars) || has_long_cluster(text, budget), "{length} {text:?}");
    for range in &cut.matches {
        assert!(cut.start_chars <= range.start && range.start < range.end && range.end <= cut.end_chars);
    }
    if !has_long_cluster(text, budget) {
        let from = text.len() - scalars::split(text, cut.start_chars).1.len();
        let edges: Vec<usize> =
            text.grapheme_indices(true).map(|(byte, _)| byte).chain([text.len()]).collect();
        assert!(edges.contains(&from) && edges.contains(&(from + cut.text.len())), "{text:?}");
    }
}

fn has_long_cluster(text: &str, budget: PreviewBudget) -> bool {
    text.graphemes(true).any(|cluster| scalars::count(cluster) > budget.max - budget.min)
}

#[test]
fn a_short_text_is_shown_whole() {
    check(
        "Your invoice for March",
        "invoice",
        expect![[r"
        0..22/22
        Your <mark>invoice</mark> for March"]],
    );
    check("", "x", expect!["0..0/0\n"]);
    check(
        "no match here",
        "x",
        expect![[r"
        0..13/13
        no match here"]],
    );
}

#[test]
fn a_match_in_the_middle_has_words_on_both_sides() {
    check(
        STORY,
        "lisbon",
        expect![[r#"
            58..294/414
            …long after the building had emptied. Anna had sent the invoice to the wrong address twice, and the accountant in <mark>Lisbon</mark> kept asking for a copy that nobody could find. On Monday the missing invoice turned up between two pages of a travel…"#]],
    );
    check(
        STORY,
        "missing invoice",
        expect![[r#"
        128..366/414
        …wrong address twice, and the accountant in Lisbon kept asking for a copy that nobody could find. On Monday the <mark>missing invoice</mark> turned up between two pages of a travel magazine, and everyone agreed to scan such things at once from then on,…"#]],
    );
}

#[test]
fn a_match_at_an_edge_uses_the_whole_budget() {
    check(
        STORY,
        "the quarterly",
        expect![[r#"
        0..238/414
        <mark>The quarterly</mark> report was finished late on Friday evening, long after the building had emptied. Anna had sent the invoice to the wrong address twice, and the accountant in Lisbon kept asking for a copy that nobody could find. On Monday the…"#]],
    );
    check(
        STORY,
        "amount.",
        expect![[r#"
        178..414/414
        …kept asking for a copy that nobody could find. On Monday the missing invoice turned up between two pages of a travel magazine, and everyone agreed to scan such things at once from then on, whatever the hour and however small the <mark>amount.</mark>"#]],
    );
}

#[test]
fn without_a_match_the_preview_starts_the_text() {
    check(
        STORY,
        "nowhere",
        expect![[r#"
        0..238/414
        The quarterly report was finished late on Friday evening, long after the building had emptied. Anna had sent the invoice to the wrong address twice, and the accountant in Lisbon kept asking for a copy that nobody could find. On Monday the…"#]],
    );
}

#[test]
fn a_smaller_budget_gives_a_smaller_preview() {
    check_within(
        STORY,
        "lisbon",
        PreviewBudget::at_most(96),
        expect![[r#"
        128..223/414
        …wrong address twice, and the accountant in <mark>Lisbon</mark> kept asking for a copy that nobody could find…"#]],
    );
    assert_eq!(PreviewBudget::at_most(1), PreviewBudget::at_most(96));
    assert_eq!(PreviewBudget::at_most(1_000), PreviewBudget::STANDARD);
}

#[test]
fn a_match_inside_a_word_shows_the_word() {
    check_within(
        STORY,
        "ccountan",
        PreviewBudget::at_most(96),
        expect![[r#"
        121..212/414
        …to the wrong address twice, and the a<mark>ccountan</mark>t in Lisbon kept asking for a copy that nobody…"#]],
    );
}

#[test]
fn a_word_longer_than_the_budget_is_cut() {
    let text = format!("see {}needle{} now", "x".repeat(300), "y".repeat(300));
    check(
        &text,
        "needle",
        expect![[r#"
        187..427/614
        …xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx<mark>needle</mark>yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy…"#]],
    );
}

#[test]
fn a_long_neighbour_is_cut_rather_than_left_out() {
    let text = format!("{} needle {}", "x".repeat(300), "and then some words ".repeat(20));
    check(
        &text,
        "needle",
        expect![[r#"
        184..421/708
        …xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx <mark>needle</mark> and then some words and then some words and then some words and then some words and then some words and then some…"#]],
    );
}

#[test]
fn text_without_spaces_is_cut_between_characters() {
    let text = format!("{}検索{}", "漢字かな交じり文".repeat(40), "の結果を表示する".repeat(40));
    check_within(
        &text,
        "検索",
        PreviewBudget::at_most(96),
        expect![[r#"
        273..369/642
        …字かな交じり文漢字かな交じり文漢字かな交じり文漢字かな交じり文漢字かな交じり文漢字かな交じり文<mark>検索</mark>の結果を表示するの結果を表示するの結果を表示するの結果を表示するの結果を表示するの結果を表示す…"#]],
    );
}

#[test]
fn emoji_are_never_split() {
    let text = format!("{}needle{}", "👩‍👩‍👧‍👦".repeat(60), "🇫🇷🇩🇪".repeat(60));
    check_within(
        &text,
        "needle",
        PreviewBudget::at_most(96),
        expect![[r#"
        378..474/666
        …👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦<mark>needle</mark>🇫🇷🇩🇪🇫🇷🇩🇪🇫🇷🇩🇪🇫🇷🇩🇪🇫🇷🇩🇪🇫🇷🇩🇪🇫🇷🇩🇪🇫🇷🇩🇪🇫🇷🇩🇪🇫🇷🇩🇪🇫🇷🇩🇪🇫🇷🇩🇪…"#]],
    );
}

#[test]
fn a_match_longer_than_the_budget_is_cut_to_it() {
    let cut = preview(STORY, &find(STORY, &STORY[3..400]), PreviewBudget::STANDARD);
    hold_promises(STORY, &cut, PreviewBudget::STANDARD);
    assert!(cut.start_chars <= 3 && cut.matches.first() == Some(&(3..cut.end_chars)));
}

#[test]
fn a_cluster_longer_than_the_budget_is_cut() {
    let text = format!("a needle{} end", "\u{301}".repeat(1_000));
    let cut = preview(&text, &find(&text, "needle"), PreviewBudget::STANDARD);
    assert!(cut.truncated && cut.text.chars().count() <= 240);
    let marks = "\u{301}".repeat(5_000);
    let cut = preview(&marks, std::slice::from_ref(&(2_000..2_001)), PreviewBudget::STANDARD);
    assert_eq!((cut.start_chars, cut.end_chars), (2_000, 2_240));
}

#[test]
fn matches_are_clipped_sorted_and_joined() {
    let cut = preview("one two three", &[8..13, 0..3, 2..5, 40..50, 7..7, 12..99], PreviewBudget::STANDARD);
    assert_eq!(cut.matches, [0..5, 8..13]);
    expect!["<mark>one t</mark>wo <mark>three</mark>"].assert_eq(&render_marked(&cut));
}

#[test]
fn the_first_range_given_is_the_one_shown() {
    let late = find_folded(STORY, "amount").unwrap();
    let cut = preview(STORY, &[late.clone(), 0..3], PreviewBudget::STANDARD);
    assert_eq!(cut.matches, [late]);
}

#[test]
fn literal_markers_are_broken() {
    check(
        "a <mark>fake</mark> b real",
        "real",
        expect![[r"
        0..26/26
        a ‹mark>fake‹/mark> b <mark>real</mark>"]],
    );
    check(
        "<MARK class=x>fake</Mark >",
        "fake",
        expect![[r"
        0..26/26
        ‹MARK class=x><mark>fake</mark>‹/Mark >"]],
    );
    check(
        "a <mark>",
        "ark",
        expect![[r"
        0..8/8
        a ‹m<mark>ark</mark>>"]],
    );
    check(
        "1 < 2 <b>mark</b> <",
        "2",
        expect![[r"
        0..19/19
        1 < <mark>2</mark> <b>mark</b> <"]],
    );
}

#[test]
fn random_previews_keep_their_promises() {
    let mut random = Random::new(99);
    for round in 0..3_000 {
        let text = random.text(if round % 10 == 0 { 900 } else { 120 });
        let budget = PreviewBudget::at_most(60 + random.below(240));
        let total = text.chars().count();
        let ranges: Vec<Range<usize>> = (0..random.below(4))
            .map(|_| {
                let start = random.below(total + 5);
                start..start + random.below(30)
            })
            .collect();
        let cut = preview(&text, &ranges, budget);
        hold_promises(&text, &cut, budget);
        let marked = render_marked(&cut);
        assert_eq!(marked.matches("<mark>").count(), cut.matches.len(), "{text:?}");
        assert_eq!(marked.matches("</mark>").count(), cut.matches.len(), "{text:?}");
        if let Some(first) = ranges.iter().find(|range| range.start < range.end.min(total)) {
            assert!(cut.matches.iter().any(|shown| shown.contains(&first.start)), "{text:?} {first:?}");
        }
    }
}

#[test]
fn plain_text_has_the_boundaries_of_any_text() {
    let mut random = Random::new(41);
    let mut plain_regions = 0;
    for round in 0..6_000 {
        let before = if round % 3 == 0 { random.text(3) } else { random.ascii(3) };
        let region = if round % 7 == 0 { random.text(12) } else { random.ascii(16) };
        if !plain::is_plain(&before, &region) {
            continue;
        }
        plain_regions += 1;
        let start = scalars::count(&before);
        for (rest, ends_text) in [("", true), ("e\u{301}", false), ("\u{301}", false), ("z", false)] {
            let text = format!("{before}{region}{rest}");
            assert_eq!(
                plain::boundaries(&region, start, ends_text),
                layout::boundaries(&text, (&before, &region), start, ends_text),
                "{before:?} {region:?} {rest:?}"
            );
        }
    }
    assert!(plain_regions > 2_000, "{plain_regions}");
}

/// Breaks literal markers one character after the other.
fn unmarked_slowly(text: &str, from: usize, length: usize) -> String {
    let broken = |byte: usize, c: char| c == '<' && starts_marker(&text.as_bytes()[byte + 1..]);
    let part = text.char_indices().filter(|(byte, _)| (from..from + length).contains(byte));
    part.map(|(byte, c)| if broken(byte, c) { '‹' } else { c }).collect()
}

#[test]
fn markers_are_broken_wherever_the_text_is_cut() {
    let mut random = Random::new(43);
    for _ in 0..2_000 {
        let mut text = String::new();
        for _ in 0..4 {
            text.push_str(&random.text(2));
            text.push_str(random.pick(&["<mark>", "<", "</MARK", "<<mark", "x"]));
        }
        let places: Vec<usize> = text.char_indices().map(|(byte, _)| byte).chain([text.len()]).collect();
        let (one, other) = (places[random.below(places.len())], places[random.below(places.len())]);
        let (from, length) = (one.min(other), one.abs_diff(other));
        let mut out = String::new();
        assert_eq!(push_unmarked(&mut out, &text, from, length), length);
        assert_eq!(out, unmarked_slowly(&text, from, length), "{text:?} {from} {length}");
    }
}
