//! What is typed, and the clauses it becomes.

use expect_test::{Expect, expect};

use super::*;
use crate::{
    random::Random,
    words::{WantedTerm, find_terms, language_of, tokenize},
};

/// The query as text: one clause after another, then what was ignored.
#[track_caller]
fn check(q: &str, expected: Expect) {
    expected.assert_eq(&render(&parse(q)));
}

fn render(query: &Query) -> String {
    let clauses = query.clauses.iter().map(render_clause);
    let ignored = query.ignored.iter().map(|ignored| {
        let text = if ignored.text.is_empty() { String::new() } else { format!(" {:?}", ignored.text) };
        format!("!{:?} {}{text}", ignored.reason, ignored.count)
    });
    clauses.chain(ignored).collect::<Vec<_>>().join(" ")
}

fn render_clause(clause: &Clause) -> String {
    let sign = match clause.need {
        Need::Should => "",
        Need::Must => "+",
        Need::Without => "-",
    };
    let firsts = |positions: &[Vec<String>]| {
        positions.iter().map(|forms| forms[0].as_str()).collect::<Vec<_>>().join(" ")
    };
    let what = match &clause.what {
        What::Word { forms } => forms[0].clone(),
        What::Prefix { folded } => format!("{folded}*"),
        What::Phrase(positions) => format!("\"{}\"", firsts(positions)),
        What::Compound { whole, parts } => format!("<{whole}: {}>", firsts(parts)),
    };
    let group = clause.group.map(|group| format!("/{group}")).unwrap_or_default();
    let stop = if clause.stop { "~" } else { "" };
    format!("{sign}{stop}{what}{group}")
}

#[test]
fn words_are_wished_for() {
    check("invoice March", expect!["invoice march"]);
    check("  Café\tNOIR\n", expect!["cafe noir"]);
    check("invoice invoice INVOICE", expect!["invoice"]);
    check("", expect![]);
    check("   ", expect![]);
    check("?! — …", expect![[r#"!NoWords 6 "?! — …""#]]);
}

#[test]
fn questions_leave_their_small_words_behind() {
    check("What did Caroline research?", expect!["~what ~did caroline research"]);
    check("when does the meeting start", expect!["~when ~does ~the meeting start"]);
    check("Was hat Anna über den Krieg gesagt?", expect!["~was ~hat anna ~uber ~den krieg gesagt"]);
    check("who won the war", expect!["~who won ~the war"]);
    check("what's Bob's address", expect!["~<what's: what> <bob's: bob> address"]);
    check("Qu'est-ce que Marie a dit ?", expect!["~<qu'est-ce: qu est ce> ~que marie ~a ~dit"]);
    check("to be or not to be", expect!["to be or not"]);
    check("the WHO report", expect!["~the who report"]);
    check("the who", expect!["the who"]);
    check("cats AND dogs NOT birds", expect!["cats ~and dogs ~not birds"]);
}

#[test]
fn quotes_make_phrases() {
    check("\"annual report\" 2024", expect![[r#""annual report" 2024"#]]);
    check(
        "“annual report” «bon marché» „guten Tag“ ‹x y›",
        expect![[r#""annual report" "bon marche" "guten tag" "x y""#]],
    );
    check("”annan dag” »guten Tag«", expect![[r#""annan dag" "guten tag""#]]);
    check("「東京 タワー」", expect![[r#""東京 京 タワ ワー""#]]);
    check("\"annual report", expect!["annual report"]);
    check("27\" monitor 24\" stand", expect!["27 monitor 24 stand"]);
    check("\"\" \" \" \"...\" x", expect!["x"]);
    check("\"invoice\" \"INV-2034\"", expect!["invoice <inv-2034: inv 2034>"]);
    check("\"say “hello world” twice\"", expect![[r#""say hello world twice""#]]);
    check("(\"annual report\" draft)", expect![[r#""annual report" draft"#]]);
    check("\"a\"\"b c\"", expect![[r#"~a "b c""#]]);
    check("\"to be or not to be\"", expect![[r#""to be or not to be""#]]);
    check(
        "\"C++ developer\" \"mail bob@example.com\"",
        expect![[r#""c++ developer" "mail bob example com""#]],
    );
}

/// Row: search language, what could be read as a phrase is never silently read as words.
#[test]
fn a_quote_after_a_field_sign_opens_a_phrase() {
    check("from:\"Bob Smith\" invoice", expect![[r#"~from "bob smith" invoice"#]]);
    check("title=\"x y\"", expect![[r#"title "x y""#]]);
    check("size:27\" title=\"open end", expect!["size 27 title open end"]);
}

/// Row: search language, whole questions in the languages that are stemmed.
#[test]
fn an_elided_function_word_is_not_asked_for() {
    check("Ou est l'appartement ?", expect!["~ou ~est ~l appartement"]);
    check("dell’arte all'aperto d'eau", expect!["~dell arte ~all aperto ~d eau"]);
    check("+l'eau -d'amour l'appart*", expect!["+eau -amour ~l appart*"]);
    check("l'arc-en-ciel", expect!["~l <arc-en-ciel: arc en ciel>"]);
    check("O'Neill Bob's D'Angelo", expect!["<o'neill: o neill> <bob's: bob> <d'angelo: d angelo>"]);
    check("\"l'appartement\"", expect!["<l'appartement: l appartement>"]);
}

#[test]
fn a_minus_excludes_only_before_a_word() {
    check("invoice -draft", expect!["invoice -draft"]);
    check("invoice -\"first draft\"", expect![[r#"invoice -"first draft""#]]);
    check("invoice -“first draft” -#spam", expect![[r#"invoice -"first draft" -<#spam: spam>"#]]);
    check("well-known covid-19", expect!["<well-known: well known> <covid-19: covid 19>"]);
    check("a - b -", expect!["~a b"]);
    check("--flag -5 -3.2", expect!["flag 5 <3.2: 3 2>"]);
    check("x (-y", expect!["x y"]);
    check("tax -either/or", expect![[r#"tax -"either or""#]]);
    check("会議 -東京都", expect![[r#"会議/0 -"東京 京都""#]]);
    check("report -\"draft", expect!["report draft"]);
    check("-draft -final", expect![[r#"draft final !ExclusionsAlone 2 "draft""#]]);
    check("foo -foo", expect!["foo -foo"]);
}

#[test]
fn a_plus_requires_only_before_a_word() {
    check("+invoice march", expect!["+invoice march"]);
    check("+1 C++ a+b", expect!["1 <c++: > <a+b: a b>"]);
    check("+\"annual report\" +the", expect![[r#"+"annual report" +the"#]]);
    check("invoice +invoice", expect!["+invoice"]);
}

#[test]
fn a_star_makes_a_prefix_of_two_characters_or_more() {
    check("inv* INV-20* a* * **bold** *lead", expect!["inv* inv-20* ~a bold lead"]);
    check("caf\u{e9}* in*voice foo**", expect!["cafe* ~in voice foo"]);
    check("+inv* -dra*", expect!["+inv* -dra*"]);
}

#[test]
fn compounds_are_asked_for_as_a_whole_and_by_their_parts() {
    check(
        "bob@example.com INV-2034 2024-03-05 #tag @bob",
        expect![
            "<bob@example.com: bob example com> <inv-2034: inv 2034> <2024-03-05: 2024 03 05> <#tag: tag> <@bob: bob>"
        ],
    );
    check(
        "https://example.com/a?b=c C# .NET 1,200 don't",
        expect![
            "<https://example.com/a?b=c: https example com a b c> <c#: > <.net: net> <1,200: 1200> ~<don't: don t>"
        ],
    );
    check("from:bob subject:invoice and/or", expect!["~from bob subject invoice ~and ~or"]);
}

#[test]
fn runs_without_spaces_are_asked_for_piece_by_piece() {
    check("東京都 会議", expect!["東京/0 京都/0 会議/1"]);
    check("東", expect!["東"]);
    check("iPhone15を買う", expect!["iphone15 を買/0 買う/0"]);
    check("\"東京都 tower\"", expect![[r#""東京 京都 都 tower""#]]);
    check("👍🏽 great", expect!["👍 great"]);
}

#[test]
fn no_half_of_a_word_is_looked_for() {
    let query = parse(&"boats ".repeat(1_500));
    assert_eq!(query.clauses.len(), 1, "{:?}", query.clauses);
    assert_eq!(query.ignored[0].text.split_whitespace().next(), Some("boats"), "{:?}", query.ignored);
}

#[test]
fn what_is_not_followed_is_said() {
    check("inv\u{0}oice \u{1b}[31m", expect!["inv oice 31m !ControlCharacters 2"]);
    check("\u{202E}abc\u{200F} x", expect!["abc x"]);
    let long = format!("{} tail of the query", "a".repeat(4_096));
    let query = parse(&long);
    assert_eq!(query.clauses.len(), 1);
    assert_eq!(query.ignored[0].reason, IgnoredReason::TooLong);
    let phrase = format!("\"{}\"", "a b ".repeat(20));
    assert_eq!(
        parse(&phrase).ignored[0],
        Ignored { reason: IgnoredReason::PhraseTooLong, text: String::new(), count: 8 }
    );
}

#[test]
fn function_words_give_way_to_words_when_there_are_too_many() {
    let words: Vec<_> = (0..64).map(|index| format!("word{index} the of {index}th")).collect();
    let query = parse(&words.join(" "));
    assert_eq!(query.clauses.len(), 64);
    assert!(query.clauses.iter().all(|clause| !clause.stop));
    assert_eq!(
        query.ignored,
        [Ignored { reason: IgnoredReason::TooManyClauses, text: "word32".to_owned(), count: 66 }]
    );
    let query = parse(&format!("{} +must -not", words.join(" ")));
    assert!(query.clauses.iter().any(|clause| clause.need == Need::Must));
    assert!(query.clauses.iter().any(|clause| clause.need == Need::Without));
}

#[test]
fn a_megabyte_is_read_as_far_as_the_limit() {
    for piece in ["word ", "\"", "\"a\" ", "-a ", "a-", "“", "東", "+\"", "\u{0}", "*", "a* "] {
        let query = parse(&piece.repeat(1_000_000 / piece.len()));
        assert!(query.clauses.len() <= 64 && query.ignored.len() <= 6, "{piece:?}");
    }
}

/// Whether a text has what the clause looks for, in the plainest way.
fn matches(what: &What, text: &str) -> bool {
    let tokens = tokenize(text, language_of(text));
    let has = |forms: &[String]| tokens.iter().any(|token| forms.contains(&token.term));
    let has_adjacent = |positions: &[Vec<String>]| {
        let at = |position: u32, forms: &Vec<String>| {
            tokens.iter().any(|token| token.position == position && forms.contains(&token.term))
        };
        let starts = tokens.iter().map(|token| token.position);
        !positions.is_empty()
            && starts
                .into_iter()
                .any(|start| positions.iter().zip(start..).all(|(forms, position)| at(position, forms)))
    };
    match what {
        What::Word { forms } => has(forms),
        What::Prefix { folded } => {
            let wanted = [WantedTerm::Prefix(folded)];
            !find_terms(text, language_of(text), &wanted, 1).is_empty()
        }
        What::Phrase(positions) => has_adjacent(positions),
        What::Compound { whole, parts } => has(std::slice::from_ref(whole)) || has_adjacent(parts),
    }
}

const PIECES: &[&str] = &[
    "invoice",
    "running",
    "Häuser",
    "ación",
    " ",
    " ",
    " ",
    "-",
    "+",
    "\"",
    "“",
    "”",
    "„",
    "«",
    "»",
    "*",
    "'",
    "’",
    "@",
    ".",
    "#",
    "_",
    "/",
    "://",
    "1,200",
    "5",
    "the",
    "what",
    "東京都",
    "を",
    "👍🏽",
    "\u{0}",
    "\u{202E}",
    "\t",
    "(",
    ")",
    "C++",
];

fn odd_query(random: &mut Random) -> String {
    let count = random.below(16);
    let mut query = String::new();
    for _ in 0..count {
        match random.below(8) {
            0 => query.push_str(&random.text(3)),
            1 => query.extend(char::from_u32(u32::try_from(random.below(0x3000)).unwrap())),
            _ => query.push_str(random.pick(PIECES)),
        }
    }
    query
}

#[test]
fn any_input_gives_a_bounded_tree() {
    let mut random = Random::new(17);
    for _ in 0..20_000 {
        let text = odd_query(&mut random);
        let query = parse(&text);
        assert!(query.clauses.len() <= MAX_CLAUSES && query.ignored.len() <= 6, "{text:?}");
        let excluding = query.clauses.iter().filter(|clause| clause.need == Need::Without).count();
        assert!(excluding == 0 || excluding < query.clauses.len(), "{text:?}");
        assert!(query.clauses.is_empty() || query.clauses.iter().any(|clause| !clause.stop), "{text:?}");
        for clause in &query.clauses {
            assert!(!clause.text.is_empty(), "{text:?}");
            let empty = match &clause.what {
                What::Word { forms } => forms.is_empty(),
                What::Prefix { folded } => folded.chars().count() < 2,
                What::Phrase(positions) => positions.len() < 2 || positions.iter().any(Vec::is_empty),
                What::Compound { whole, parts } => whole.is_empty() || parts.iter().any(Vec::is_empty),
            };
            assert!(!empty, "{text:?}");
        }
    }
}

#[test]
fn a_text_is_matched_by_what_is_typed_from_it() {
    let mut random = Random::new(23);
    for _ in 0..1_500 {
        let text = odd_query(&mut random);
        for clause in parse(&text).clauses {
            if !matches!(clause.need, Need::Without) {
                assert!(matches(&clause.what, &text), "{clause:?} of {text:?}");
            }
        }
        for typed in text.split_whitespace().filter(|typed| !typed.contains(['"', '“', '”', '\0'])) {
            let quoted = format!("\"{typed}\"");
            for clause in parse(&quoted).clauses {
                assert!(matches(&clause.what, &text), "{quoted} as {clause:?} of {text:?}");
            }
        }
    }
}
