//! Texts, and the terms they become.

use std::{collections::HashSet, fmt::Write};

use expect_test::{Expect, expect};
use unicode_segmentation::UnicodeSegmentation;

use super::*;
use crate::{random::Random, scalars};

/// The terms by position, as `position term term | position term`.
#[track_caller]
fn check(text: &str, expected: Expect) {
    check_in(Language::English, text, expected);
}

#[track_caller]
fn check_in(language: Language, text: &str, expected: Expect) {
    let mut rendered = String::new();
    let mut last = None;
    for token in tokenize(text, language) {
        if last != Some(token.position) {
            let bar = if last.is_some() { " | " } else { "" };
            write!(rendered, "{bar}{}", token.position).unwrap();
            last = Some(token.position);
        }
        write!(rendered, " {}", token.term).unwrap();
    }
    expected.assert_eq(&rendered);
}

#[track_caller]
fn check_forms(word: &str, expected: Expect) {
    expected.assert_eq(&forms(word).join(" "));
}

#[track_caller]
fn check_language(text: &str, expected: Expect) {
    expected.assert_eq(language_of(text).code());
}

/// Where the terms stand, as `start..end text`.
#[track_caller]
fn check_find(text: &str, terms: &[&str], expected: Expect) {
    let wanted: Vec<_> = terms
        .iter()
        .map(|term| term.strip_suffix('*').map_or(WantedTerm::Exact(term), WantedTerm::Prefix))
        .collect();
    let found = find_terms(text, language_of(text), &wanted, 20);
    let rendered = found.iter().map(|found| {
        let (start, end) = (found.start_chars as usize, found.end_chars as usize);
        let piece = scalars::slice(text, start, end).replace('\u{301}', "+acute");
        format!("{start}..{end} @{} {} {piece}", found.position, terms[found.term_index])
    });
    expected.assert_eq(&rendered.collect::<Vec<_>>().join("\n"));
}

#[test]
fn words_are_folded_and_stemmed() {
    check("The Invoices were running late", expect!["0 the | 1 invoic | 2 were | 3 run | 4 late"]);
    check("CAFÉ Zoë naïve", expect!["0 cafe | 1 zoe | 2 naiv"]);
    check("ｆｕｌｌ ﬁle ℌello", expect!["0 full | 1 file | 2 hello"]);
    check("in\u{AD}voice a\u{200D}b", expect!["0 invoic | 1 ab"]);
    check("Straße Ærø Łódź İstanbul", expect!["0 strasse strass | 1 aero | 2 lodz | 3 istanbul"]);
    check("", expect![]);
    check(" … — !? \u{301}", expect![]);
}

#[test]
fn parts_and_wholes_are_both_terms() {
    check("mail bob@example.com now", expect!["0 mail | 1 bob@example.com bob | 2 exampl | 3 com | 4 now"]);
    check(
        "INV-2034 foo_bar __init__ a--b",
        expect!["0 inv-2034 inv | 1 2034 | 2 foo_bar foo | 3 bar | 4 init | 5 a | 6 b"],
    );
    check(
        "well-known, state-of-the-art.",
        expect!["0 well-known well | 1 known | 2 state-of-the-art state | 3 of | 4 the | 5 art"],
    );
    check(
        "v1.2.3 3.14 2024-03-05 12:30 3/5/2024",
        expect![
            "0 v1.2.3 v1 | 1 2 | 2 3 | 3 3.14 3 | 4 14 | 5 2024-03-05 2024 | 6 03 | 7 05 | 8 12:30 12 | 9 30 | 10 3/5/2024 3 | 11 5 | 12 2024"
        ],
    );
    check("2024-03-05T12:30:00Z", expect!["0 2024-03-05t12:30:00z 2024 | 1 03 | 2 05 | 3 12 | 4 30 | 5 00"]);
    check("report.final.PDF", expect!["0 report.final.pdf report | 1 final | 2 pdf"]);
    check(
        "https://example.com/a?b=c#d.",
        expect!["0 https://example.com/a?b=c#d https | 1 exampl | 2 com | 3 a | 4 b | 5 c | 6 d"],
    );
    check(
        "(www.example.org/path) example.com/path",
        expect![
            "0 www.example.org/path www | 1 exampl | 2 org | 3 path | 4 example.com/path exampl | 5 com | 6 path"
        ],
    );
    check("and/or from:bob key=value", expect!["0 and | 1 or | 2 from | 3 bob | 4 key | 5 valu"]);
    check(
        "AT&T R&D bob+tag@x.org",
        expect!["0 at&t at | 1 t | 2 r&d r | 3 d | 4 bob+tag@x.org bob | 5 tag | 6 x | 7 org"],
    );
}

#[test]
fn signs_that_make_a_name_are_kept() {
    check(
        "C++ C# F# .NET g++ Disney+",
        expect!["0 c++ c | 1 c# c | 2 f# f | 3 .net net | 4 g++ g | 5 disney+ disney"],
    );
    check("#tag @bob ##no a#b #123", expect!["0 #tag tag | 1 @bob bob | 2 no | 3 a | 4 b | 5 #123 123"]);
    check("end.Next ...and .5", expect!["0 end.next end | 1 next | 2 and | 3 5"]);
}

#[test]
fn apostrophes_join_and_possessives_vanish() {
    check(
        "don't Bob's house O’Brien l'homme 'quoted'",
        expect![
            "0 don't don | 1 t | 2 bob's bob | 3 hous | 4 o'brien o | 5 brien | 6 l'homme l | 7 homm | 8 quot"
        ],
    );
}

#[test]
fn numbers_survive_their_commas() {
    check(
        "1,200 1,234,567.89 $5 50% 3,14 1,2,3",
        expect![
            "0 1,200 1200 | 1 1,234,567.89 1234567 | 2 89 | 3 5 | 4 50 | 5 3,14 3 | 6 14 | 7 1,2,3 1 | 8 2 | 9 3"
        ],
    );
    check("1234,567 1,200,", expect!["0 1234,567 1234 | 1 567 | 2 1,200 1200"]);
}

#[test]
fn emoji_are_words_without_their_colour() {
    check(
        "ok 👍🏽👍 ❤️ ❤ 🇫🇷🇩🇪 👩‍👩‍👧 🤷🏽‍♂️ 1️⃣",
        expect!["0 ok | 1 👍 | 2 👍 | 3 ❤ | 4 ❤ | 5 🇫🇷 | 6 🇩🇪 | 7 👩‍👩‍👧 | 8 🤷 | 9 1"],
    );
}

#[test]
fn scripts_without_spaces_are_pairs_and_clusters() {
    check("東京都", expect!["0 東 東京 | 1 京 京都 | 2 都"]);
    check("iPhone15を買う 2024年", expect!["0 iphone15 | 1 を を買 | 2 買 買う | 3 う | 4 2024 | 5 年"]);
    check(
        "カタカナ ｶﾀｶﾅ",
        expect!["0 カ カタ | 1 タ タカ | 2 カ カナ | 3 ナ | 4 カ カタ | 5 タ タカ | 6 カ カナ | 7 ナ"],
    );
    check("สวัสดี", expect!["0 ส สวั | 1 วั วัส | 2 ส สดี | 3 ดี"]);
    check("학교에서 학교", expect!["0 학 학교 | 1 교 교에 | 2 에 에서 | 3 서 | 4 학 학교 | 5 교"]);
}

#[test]
fn long_words_are_found_again() {
    let hex = "a".repeat(64);
    assert_eq!(forms(&hex), std::slice::from_ref(&hex));
    let base64 = "Zm9v".repeat(40);
    let [term] = &forms(&base64)[..] else { panic!("one form") };
    assert_eq!(term.chars().count(), 64);
    assert!(tokenize(&format!("x {base64} y"), Language::English).iter().any(|token| token.term == *term));
    assert_ne!(forms(&format!("{base64}a")), forms(&base64));
    check(
        "550e8400-e29b-41d4-a716-446655440000",
        expect![
            "0 550e8400-e29b-41d4-a716-446655440000 550e8400 | 1 e29b | 2 41d4 | 3 a716 | 4 446655440000"
        ],
    );
}

#[test]
fn other_languages_are_stemmed_by_their_rules() {
    check_in(Language::German, "Rechnungen Häuser Straßen", expect!["0 rechnung | 1 haus | 2 strass"]);
    check_in(Language::French, "créées factures", expect!["0 cre cree | 1 factur"]);
    check_in(Language::Spanish, "información facturas", expect!["0 inform | 1 factur"]);
    check_in(Language::Russian, "счета новый invoices", expect!["0 счет | 1 нов новы | 2 invoic"]);
    check_in(Language::Greek, "ΟΔΟΣ οδός", expect!["0 οδ | 1 οδ"]);
    check_in(Language::Unstemmed, "running facturas", expect!["0 running | 1 facturas"]);
    check_in(Language::English, "שָׁלוֹם مَرْحَبًا नमस्ते", expect!["0 שלום | 1 مرحبا | 2 नमस्ते"]);
}

#[test]
fn a_typed_word_is_looked_up_in_every_language() {
    check_forms("running", expect!["running run runningi"]);
    check_forms("Información", expect!["informacion inform informacio informac"]);
    check_forms("informacion", expect!["informacion inform informacio informac"]);
    check_forms("Häuser", expect!["hauser haus"]);
    check_forms("счета", expect!["счета счет"]);
    check_forms("INV-2034", expect!["inv-2034"]);
    check_forms("1,200", expect!["1,200 1200"]);
    check_forms("42", expect!["42"]);
    check_forms("東京都", expect!["東京 京都"]);
    check_forms("東", expect!["東"]);
    check_forms("👍🏽", expect!["👍"]);
    check_forms("-—", expect![]);
}

#[test]
fn function_words_are_known_unless_they_mean_a_thing_elsewhere() {
    for word in ["the", "what", "did", "und", "nicht", "pourquoi", "porque", "что", "don't"] {
        assert!(is_stop_word(word), "{word}");
    }
    for word in ["war", "die", "son", "hat", "invoice", "c", "", "caroline"] {
        assert!(!is_stop_word(word), "{word}");
    }
}

#[test]
fn the_language_is_told_from_the_text() {
    check_language("Please send me the invoice for March", expect!["en"]);
    check_language("Bitte schicken Sie mir die Rechnung für März", expect!["de"]);
    check_language("Je vous envoie la facture pour le mois de mars", expect!["fr"]);
    check_language("Te envío la factura del mes de marzo porque no la tienes", expect!["es"]);
    check_language("Ti mando la fattura del mese di marzo, che non hai ancora", expect!["it"]);
    check_language("Estou enviando a fatura do mês de março para você", expect!["pt"]);
    check_language("Ik stuur je de factuur van maart, want die heb je nog niet", expect!["nl"]);
    check_language("Jag skickar fakturan för mars, eftersom du inte har fått den", expect!["sv"]);
    check_language("Jeg sender deg fakturaen for mars, fordi du ikke har fått den", expect!["no"]);
    check_language("Wysyłam fakturę za marzec, ponieważ jeszcze jej nie masz", expect!["pl"]);
    check_language("Отправляю счёт за март", expect!["ru"]);
    check_language("Надсилаю рахунок за березень, бо його ще немає", expect!["uk"]);
    check_language("Σας στέλνω το τιμολόγιο", expect!["el"]);
    check_language("أرسل لك الفاتورة", expect!["ar"]);
    check_language("فاکتور را برای شما می‌فرستم", expect!["und"]);
    check_language("請求書を送ります PDF", expect!["und"]);
    check_language("Tôi gửi cho bạn hóa đơn của tháng ba vì bạn chưa có nó", expect!["und"]);
    check_language("INV-2034 4711", expect!["en"]);
    check_language("", expect!["en"]);
}

#[test]
fn terms_are_found_again_where_they_stand() {
    check_find(
        "Running late, we run",
        &["run"],
        expect![[r#"
        0..7 @0 run Running
        17..20 @3 run run"#]],
    );
    check_find("un cafe\u{301} noir", &["cafe"], expect!["3..8 @1 cafe cafe+acute"]);
    check_find(
        "😀😀 ok 👍🏽",
        &["😀", "👍", "ok"],
        expect![[r#"
        0..1 @0 😀 😀
        1..2 @1 😀 😀
        3..5 @2 ok ok
        6..8 @3 👍 👍🏽"#]],
    );
    check_find("שלום עולם", &["עולם"], expect!["5..9 @1 עולם עולם"]);
    check_find(
        "私は東京都に",
        &["東京", "京都"],
        expect![[r#"
        2..4 @2 東京 東京
        3..5 @3 京都 京都"#]],
    );
    check_find(
        "mail bob@example.com",
        &["bob@example.com", "exampl"],
        expect![[r#"
            5..20 @1 bob@example.com bob@example.com
            9..16 @2 exampl example"#]],
    );
    check_find(
        "information informs",
        &["informat*", "inform"],
        expect![[r#"
        0..11 @0 informat* information
        0..11 @0 inform information
        12..19 @1 inform informs"#]],
    );
    check_find("\u{202E}abc\u{202C} x", &["abc"], expect!["1..4 @0 abc abc"]);
    check_find("a a a", &[], expect![]);
}

#[test]
fn matches_are_bounded() {
    let text = "word ".repeat(10_000);
    assert_eq!(find_terms(&text, Language::English, &[WantedTerm::Exact("word")], 7).len(), 7);
    assert!(find_terms(&text, Language::English, &[WantedTerm::Exact("word")], 0).is_empty());
}

#[test]
fn language_codes_go_both_ways() {
    for code in ["en", "de", "no", "ta", "und"] {
        assert_eq!(Language::from_code(code).code(), code);
    }
    assert_eq!(Language::from_code("xx"), Language::Unstemmed);
}

/// Endings that many stemmers cut, with what joins words and what breaks them.
const PIECES: &[&str] = &[
    "run", "ning", "ing", "ación", "ations", "ungen", "lich", "é", "è", "ão", "ów", "ых", "ость", "ies",
    "ment", "eaux", "ß", "Ä", "ö", "İ", "ı", "Ł", "ø", "-", "-", ".", "_", "@", "'", "’", "/", ":", "://",
    ",", "+", "#", "&", "1", "200", "05T12", "www.", " ", " ", " ", "s", "S", "の", "東", "각", "\u{AD}",
    "\u{200D}", "\u{FE0F}", "ﬁ", "Ｗ",
];

fn odd_text(random: &mut Random) -> String {
    let mut text = String::new();
    for _ in 0..random.below(14) {
        if random.below(3) == 0 { text.push_str(&random.text(2)) } else { text.push_str(random.pick(PIECES)) }
    }
    text
}

#[test]
fn every_word_of_a_text_is_found_in_it_as_typed() {
    let mut random = Random::new(11);
    for _ in 0..10_000 {
        let text = odd_text(&mut random);
        let language = if random.below(4) == 0 {
            Language::from_code(random.pick(&["de", "fr", "es", "fi", "tr", "ru", "und", "hu", "pl"]))
        } else {
            language_of(&text)
        };
        let terms: HashSet<_> = tokenize(&text, language).into_iter().map(|token| token.term).collect();
        for chunk in Chunks::new(&text) {
            let word = chunk.span.of(&text);
            let forms = forms(word);
            assert!(forms.len() <= 12, "{word:?}: {forms:?}");
            assert!(
                forms.iter().any(|form| terms.contains(form)),
                "{word:?} of {text:?}: {forms:?} {terms:?}"
            );
        }
    }
}

#[test]
fn what_unicode_calls_a_word_is_never_lost() {
    let mut random = Random::new(5);
    for _ in 0..5_000 {
        let text = odd_text(&mut random);
        let tokens = tokenize(&text, Language::English);
        for (byte, word) in text.unicode_word_indices() {
            let start = text[..byte].chars().count();
            let end = start + word.chars().count();
            let touched = tokens
                .iter()
                .any(|token| (token.start_chars as usize) < end && start < token.end_chars as usize);
            let has_letter = word.chars().any(|c| script::class(c) != script::Class::Other);
            assert!(touched || !has_letter, "{word:?} of {text:?}");
        }
    }
}

#[test]
fn tokens_stay_inside_the_text_and_in_order() {
    let mut random = Random::new(3);
    for _ in 0..20_000 {
        let text = odd_text(&mut random);
        let total = scalars::count(&text);
        let mut last = 0;
        for token in tokenize(&text, language_of(&text)) {
            assert!(token.start_chars < token.end_chars && token.end_chars as usize <= total, "{text:?}");
            assert!(token.position >= last, "{text:?}");
            assert!(!token.term.is_empty() && token.term.chars().count() <= term::MAX_TERM_CHARS, "{text:?}");
            last = token.position;
        }
    }
}

#[test]
fn hostile_text_stays_linear() {
    let long = [
        "a-",
        "a's",
        "1,200,",
        "_",
        "a\u{301}",
        "東",
        "😀",
        "@",
        "a://",
        "\u{301}",
        "👍\u{200D}",
        "www.",
        "+",
        "Ω’",
    ];
    for piece in long {
        let text = piece.repeat(50_000);
        let mut count = 0_usize;
        for_each_token(&text, language_of(&text), |_| count += 1);
        assert!(count <= scalars::count(&text) * 2);
        find_terms(&text, Language::English, &[WantedTerm::Prefix("a")], 10);
    }
}
