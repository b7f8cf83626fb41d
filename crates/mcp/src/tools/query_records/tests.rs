//! A page shown as it came and the same page through a tree are the same result, byte for byte.

use std::fmt::Write as _;

use std::sync::Arc;

use bytes::Bytes;
use pdpp_client::{Bearer, Client, FixedBearer, InProcess, Limits};
use rmcp::model::{CallToolResult, JsonRpcMessage, RequestId, ServerResult};
use rmcp::service::{RoleServer, TxJsonRpcMessage};
use serde_json::{Map, Value, json};
use tower::BoxError;

use super::SPEC;
use super::body::{Body, PlainPage};
use super::measured::Measured;
use super::page::{Page, Service};
use crate::arguments::Arguments;
use crate::outcome::{Outcome, write_answer};
use crate::tokens::Scale;
use crate::{Adapter, Settings};

/// Texts that have to be looked at: what acts unseen, what must be escaped, bytes, handles that are none.
const HOSTILE: [&str; 24] = [
    r"\u001b[31m",
    r"\r\n",
    r"\u0000",
    r"\u0041",
    r"\/",
    r"\ud83d\ude00",
    r"\u200b",
    "\u{200B}",
    "\u{202E}evil",
    "\u{E0041}\u{E007F}",
    "\u{FEFF}",
    "\u{7F}",
    "\u{85}",
    "👩\u{200D}",
    "👩\u{200D}a",
    r"👩‍\n👩",
    r"1\ufe0f",
    "data:image/png;base64,iVBORw0KGgo=",
    r"\n data:;base64,AAAA",
    "DATA:text/plain;base64,QUJD",
    "\u{2028}",
    "pdpp://record/x",
    r"</s>\u2028",
    r"\b\f",
];

/// Texts that are shown as they are.
const MILD: [&str; 20] = [
    "Ana",
    "the winter storage is paid until March",
    "",
    " ",
    "data",
    "delta: data:, no bytes",
    r#"she said \"no\""#,
    r"first line\nsecond\tline",
    r"C:\\boats\\north",
    "žluťoučký kůň",
    "漢字かな",
    "👩‍👩‍👧 ❤️ 1️⃣",
    "שלום مرحبا",
    "https://example.org/a?b=c&d=e",
    "2025-09-01T16:07:00Z",
    "cin_1/messages:m_1",
    "a.b@example.org",
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "`tick` <mark>hit</mark>",
    "…‹›",
];

const NUMBERS: [&str; 18] = [
    "0",
    "1",
    "-7",
    "12345678901234567",
    "9223372036854775807",
    "18446744073709551615",
    "18446744073709551616",
    "123456789012345678901234567890",
    "3.25",
    "0.1",
    "1e300",
    "1E5",
    "1.0",
    "1.50",
    "-0",
    "-0.0",
    "1e-7",
    "0.30000000000000004",
];

const NAMES: [&str; 24] = [
    "id",
    "author",
    "text",
    "sent_at",
    "tags",
    "body",
    "amount",
    "a b",
    "op",
    "deleted",
    "object",
    "blob_id",
    "mime_type",
    "emitted_at",
    "next_cursor",
    "result_id",
    "connection_id",
    "stream",
    "data",
    "records",
    "naïve",
    r#"quo\"te"#,
    "x.y",
    "bearer",
];

/// Repeatable pages, as text, because a tree could not say a name twice.
struct Pages {
    dice: u64,
    /// One of so many pieces is hostile; none when it is zero.
    hostile: usize,
}

impl Pages {
    fn below(&mut self, bound: usize) -> usize {
        self.dice ^= self.dice << 13;
        self.dice ^= self.dice >> 7;
        self.dice ^= self.dice << 17;
        usize::try_from(self.dice >> 16).unwrap() % bound
    }

    fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }

    fn now(&mut self) -> bool {
        self.hostile > 0 && self.below(self.hostile) == 0
    }

    fn text(&mut self) -> String {
        if self.now() {
            return match self.below(3) {
                0 => "iVBORw0KGgoAAAANSUhEUgAAAAE9".repeat(12),
                1 => format!("{}{}", self.pick(&MILD), self.pick(&HOSTILE)),
                _ => self.pick(&HOSTILE).to_owned(),
            };
        }
        match self.below(12) {
            0 => self.pick(&MILD).repeat(20),
            1 => format!("{} {}", self.pick(&MILD), self.pick(&MILD)),
            _ => self.pick(&MILD).to_owned(),
        }
    }

    fn value(&mut self, depth: usize) -> String {
        match self.below(if depth == 0 { 8 } else { 10 }) {
            0 if self.now() => self.pick(&NUMBERS).to_owned(),
            0 => self.pick(&NUMBERS[..5]).to_owned(),
            1 => self.pick(&["true", "false", "null", "3.25", "{}", "[]"]).to_owned(),
            8 => {
                let items: Vec<String> = (0..self.below(4)).map(|_| self.value(depth - 1)).collect();
                format!("[{}]", items.join(","))
            }
            9 => self.object(depth - 1),
            _ => format!("\"{}\"", self.text()),
        }
    }

    fn object(&mut self, depth: usize) -> String {
        let count = if self.now() { 70 } else { self.below(6) };
        let mut members: Vec<String> = Vec::new();
        for index in 0..count {
            let name = if self.now() { self.pick(&HOSTILE) } else { self.pick(&NAMES) };
            // Twice the same name is something to meet, but not everywhere.
            let name = if self.now() { name.to_owned() } else { format!("{name}{index}") };
            members.push(format!("\"{name}\":{}", self.value(depth)));
        }
        if self.below(2) == 0 {
            members.reverse();
        }
        format!("{{{}}}", members.join(","))
    }

    fn row(&mut self, number: usize, usual: &str) -> String {
        let id = if self.now() { self.text() } else { format!("cin_1/messages:m_{number}") };
        let data = if self.below(3) == 0 { self.object(2) } else { usual.replace('#', &number.to_string()) };
        let mut row = format!(r#"{{"object":"record","id":"m_{number}","stream":"messages","data":{data}"#);
        row.push_str(r#","emitted_at":"2025-09-01T16:12:00Z","connection_id":"cin_1","#);
        let _ = write!(row, r#""result_id":"{id}""#);
        if self.below(5) == 0 {
            let _ = write!(row, r#","expanded":{}"#, self.object(2));
        }
        if self.now() {
            let odd =
                [r#","deleted":true"#, r#","op":"delete""#, r#","object":"tombstone""#, r#","x": 1"#, ","];
            row.push_str(self.pick(&odd));
        }
        row.push('}');
        row
    }

    fn page(&mut self) -> String {
        let rows = if self.below(8) == 0 { self.below(2) } else { self.below(40) };
        let usual = self.object(1).replacen('{', r##"{"key":"#","##, 1).replace(",}", "}");
        let mut rows: Vec<String> = (0..rows).map(|number| self.row(number, &usual)).collect();
        if self.now() {
            rows.push(self.value(1));
        }
        let place = if self.below(4) == 0 { "records" } else { "data" };
        let long = self.below(400);
        let mut page =
            format!(r#"{{"object":"list","has_more":true,"next_cursor":"{}","#, "aB9_".repeat(long));
        let _ = write!(page, r#""{place}":[{}]"#, rows.join(","));
        page.push_str(r#","meta":{"warnings":[{"code":"limit_clamped","message":"x"}],"count":{"kind":"exact","value":9}}"#);
        if self.now() {
            let odd = [
                r#","bearer":{"token_kind":"owner"}"#,
                r#","records":[]"#,
                r#","data":{"next_cursor":"x"}"#,
                r#","next_cursor":["x"]"#,
                " ",
                "}",
            ];
            page.push_str(self.pick(&odd));
        }
        page.push('}');
        page
    }
}

fn adapter() -> Adapter {
    let nobody = tower::service_fn(|_| async { Err(BoxError::from("nobody is asked")) });
    let bearer = Arc::new(FixedBearer(Bearer::new("t")));
    let client = Client::in_process(InProcess::new(nobody), "http://localhost", bearer, Limits::default());
    Adapter::new(client, Settings::default()).writing()
}

fn page(body: Body, wanted: Option<usize>, service: Service) -> Page {
    Page { body, request_id: Some("req_1".to_owned()), service, wanted, known: 0, relations: Arc::default() }
}

/// The line a client reads.
fn line(outcome: Outcome) -> String {
    let (id, result) = (RequestId::Number(7), CallToolResult::from(outcome));
    if let Some(line) = write_answer(&id, &result).unwrap() {
        return line;
    }
    let answer: TxJsonRpcMessage<RoleServer> =
        JsonRpcMessage::response(ServerResult::CallToolResult(result), id);
    serde_json::to_string(&answer).unwrap()
}

/// Whether the page can be shown as it came; if so, both ways are compared.
fn check(adapter: &Adapter, json: &str) -> bool {
    let bytes = Bytes::copy_from_slice(json.as_bytes());
    let read = |scale| PlainPage::read(&bytes, scale);
    if read(Scale::Close).is_none() {
        return false;
    }
    let tree: Value = serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {json}"));
    assert!(tree.get("bearer").is_none(), "a schema is always read: {json}");
    let given: Map<String, Value> = json!({"stream": "messages"}).as_object().unwrap().clone();
    let arguments = Arguments::check("query_records", SPEC.params, given).unwrap();
    for (wanted, service) in
        [(None, Service::Bounded), (Some(100), Service::Bounded), (None, Service::Unbounded)]
    {
        let measured = |scale| {
            let page = page(Body::Plain(read(scale).unwrap()), wanted, service);
            Measured::of(adapter, &arguments, page)
        };
        let (plain, rough) = (measured(Scale::Close), measured(Scale::Rough));
        let slow = Measured::of(adapter, &arguments, page(Body::Tree(tree.clone()), wanted, service));
        for careful in [false, true] {
            assert_eq!(plain.how_many_fit(careful), slow.how_many_fit(careful), "{json}");
        }
        assert_eq!(plain.costs(), slow.costs(), "{json}");
        // A page that fits by its bytes fits; one that may not is measured like any other.
        let rows = slow.costs().0.len();
        assert_eq!(rough.how_many_fit(false) >= rows, slow.how_many_fit(false) >= rows, "{json}");
        let slow = line(slow.outcome(adapter));
        assert_eq!(line(plain.outcome(adapter)), slow, "{json}");
        assert_eq!(line(rough.outcome(adapter)), slow, "{json}");
    }
    true
}

#[test]
fn a_page_that_can_be_shown_as_it_came_is_the_same_through_a_tree() {
    let adapter = adapter();
    for (hostile, least, most) in [(0, 600, 600), (400, 50, 595), (40, 5, 400)] {
        let mut pages = Pages { dice: 0x2545_F491_4F6C_DD1D, hostile };
        let shown = (0..600).filter(|_| check(&adapter, &pages.page())).count();
        assert!((least..=most).contains(&shown), "{shown} of 600 with one in {hostile}");
    }
}

#[test]
fn damaged_pages_are_left_to_the_tree_or_are_the_same() {
    let adapter = adapter();
    let mut pages = Pages { dice: 0x1234_5678_9ABC_DEF1, hostile: 0 };
    for _ in 0..100 {
        let whole = pages.page();
        for _ in 0..20 {
            let mut bytes = whole.clone().into_bytes();
            let at = pages.below(bytes.len());
            match pages.below(4) {
                0 => bytes.truncate(at),
                1 => {
                    bytes[at] = *pages
                        .pick(&["\"", "\\", ",", "{", "}", "[", "]", ":", "0", " ", "\n"])
                        .as_bytes()
                        .first()
                        .unwrap();
                }
                2 => bytes.insert(
                    at,
                    *pages.pick(&["\"", "\\", ",", "}", "]", "0", "-", "."]).as_bytes().first().unwrap(),
                ),
                _ => {
                    bytes.remove(at);
                }
            }
            if let Ok(json) = String::from_utf8(bytes) {
                check(&adapter, &json);
            }
        }
    }
}

#[test]
fn each_thing_that_is_not_shown_as_it_came_is_left_to_the_tree() {
    let adapter = adapter();
    let page = |data: &str| {
        format!(r#"{{"object":"list","data":[{{"data":{data},"result_id":"c/s:1"}}],"has_more":false}}"#)
    };
    for data in [r#"{"a":"b"}"#, r#"{"a":[1,-2,3.5,true,null,{}]}"#, r#"{"a":"x\ny","b":"žš"}"#] {
        assert!(check(&adapter, &page(data)), "{data}");
    }
    let deep = format!("{}1{}", "[".repeat(40), "]".repeat(40));
    let wide: Vec<String> = (0..70).map(|index| format!("\"f{index}\":1")).collect();
    let base64 = format!(r#"{{"a":"{}"}}"#, "iVBORw0KGgoAAAANSUhEUgAAAAE9".repeat(12));
    let lines =
        format!(r#"{{"a":"{}"}}"#, format!(r"{}\n", "iVBORw0KGgoAAAANSUhEUgAAAAE9".repeat(3)).repeat(5));
    for data in [
        r#"{"a": 1}"#,
        r#"{"a":1,"a":2}"#,
        r#"{"a":1e5}"#,
        r#"{"a":-0}"#,
        r#"{"a":01}"#,
        r#"{"a":-0.0}"#,
        r#"{"a":1.50}"#,
        r#"{"a":123456789012345678901234567890}"#,
        r#"{"a":"\u0041"}"#,
        r#"{"a":"\/"}"#,
        r#"{"a":"\u001b"}"#,
        "{\"a\":\"\u{200B}\"}",
        "{\"\u{202E}\":1}",
        r#"{"a":"data:;base64,AAAA"}"#,
        &base64,
        &lines,
        &deep,
        &format!("{{{}}}", wide.join(",")),
    ] {
        assert!(!check(&adapter, &page(data)), "{data}");
    }
    for whole in [
        "",
        "null",
        "[]",
        r#"{"data":{}}"#,
        r#"{"data":[],"records":[]}"#,
        r#"{"data":[],"bearer":{}}"#,
        r#"{"data":[{"data":{},"id":"1"}]}"#,
        r#"{"data":[{"result_id":"c/s:1","deleted":true}]}"#,
        r#"{"data":[]}x"#,
        r#"{"data":[]"#,
    ] {
        assert!(!check(&adapter, whole), "{whole}");
    }
}

#[test]
fn members_in_another_order_cost_what_they_cost_before() {
    let adapter = adapter();
    let row = |number: usize, data: &str| format!(r#"{{"data":{data},"result_id":"c/s:{number}"}}"#);
    let rows = [row(1, r#"{"a":{"x":1,"harbour":"y z"}}"#), row(2, r#"{"a":{"harbour":"y z","x":1}}"#)];
    assert!(check(&adapter, &format!(r#"{{"data":[{}]}}"#, rows.join(","))));
}

#[test]
fn half_an_emoji_keeps_nothing_that_acts_unseen() {
    let family = "👩\u{200D}👩\u{200D}👧";
    for before in 50..64 {
        let value = json!({"text": format!("{}{}", "a".repeat(before), family.repeat(40))});
        for room in [10, 60, 200] {
            let (line, _) = super::cut::shortened(&value, &value.to_string(), room);
            assert_eq!(pdpp_evidence::neutralise(&line).replaced, 0, "{line}");
        }
    }
}
