//! Whatever is asked, both stores give the same answer.

use std::sync::Arc;

use crate::desk::{Desk, of};
use pdpp_access::{AggregateRequest, FilterTerm, Principal, RecordsRequest, Sealer};
use pdpp_store::{ChangeEntry, ChangesOutcome, RecordRow, RecordsPage};
use pdpp_store_sqlite::SqliteStore;
use pdpp_testkit::{FixedClock, SeededEntropy};
use serde_json::{Value, json};

/// Numbers that are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn of<T: Clone>(&mut self, items: &[T]) -> T {
        items[usize::try_from(self.roll(items.len() as u64)).unwrap()].clone()
    }

    fn letter(&mut self, n: u64) -> Value {
        let long = format!("{} {}", "long".repeat(40), self.roll(3));
        let mut letter = json!({"id": format!("l{n:05}"), "body": format!("Dear {}", self.roll(1_000))});
        let mut set = |name: &str, value: Value| letter[name] = value;
        set("folder", self.of(&[json!("a"), json!("b"), json!("c\u{1}d"), json!(long), json!(null)]));
        set("size", json!(self.of(&[0, 1, 7, -3, i64::MAX, i64::MIN, 9_007_199_254_740_993])));
        set("weight", self.of(&[json!(0.1), json!(0.2), json!(3), json!(-0.0), json!(1e300), json!(2.5)]));
        if self.roll(3) > 0 {
            set("read", json!(self.roll(2) == 0));
        }
        if self.roll(5) > 0 {
            let zone = self.of(&["Z", "+01:00"]);
            let at = (1 + self.roll(28), self.roll(24), self.roll(3) * 20);
            set("sent_at", json!(format!("2026-03-{:02}T{:02}:{:02}:00{zone}", at.0, at.1, at.2)));
        }
        if self.roll(4) > 0 {
            set("filed_at", json!(format!("2026-02-{:02}T00:00:00Z", 1 + self.roll(28))));
        }
        letter
    }

    fn filter(&mut self) -> Vec<FilterTerm> {
        let terms = [
            ("folder", None, "a"),
            ("folder", None, "null"),
            ("folder", None, "nowhere"),
            ("size", None, "7"),
            ("size", Some("gt"), "1"),
            ("size", Some("lte"), "0"),
            ("size", Some("gte"), "9007199254740993"),
            ("weight", None, "2.5"),
            ("read", None, "true"),
            ("read", None, "null"),
            ("sent_at", Some("gte"), "2026-03-27"),
            ("sent_at", Some("lt"), "2026-03-02"),
            ("sent_at", None, "null"),
            ("filed_at", None, "2026-02-03"),
            ("id", None, "l00007"),
        ];
        let count = self.of(&[0, 0, 1, 1, 2, 3]);
        let term = |(field, operator, operand): (&str, Option<&str>, &str)| FilterTerm {
            field: field.to_owned(),
            operator: operator.map(str::to_owned),
            operand: operand.to_owned(),
        };
        (0..count).map(|_| term(self.of(&terms))).collect()
    }
}

/// The same desk in both stores.
struct Both {
    desks: [Desk; 2],
}

impl Both {
    async fn new() -> Self {
        let embedded = pdpp_store_sqlite::Options::new(
            Arc::new(FixedClock::default()),
            Arc::new(SeededEntropy::default()),
        );
        let embedded = Arc::new(SqliteStore::in_memory(embedded).unwrap());
        let (store, database) = crate::support::fresh_store();
        Self { desks: [Desk::empty(embedded, None).await, Desk::empty(store, Some(database)).await] }
    }

    async fn put(&self, connection: usize, stream: &str, records: &[Value]) {
        for desk in &self.desks {
            desk.put(connection, stream, records.to_vec()).await;
        }
    }

    async fn delete(&self, connection: usize, key: &str) {
        for desk in &self.desks {
            desk.delete(connection, "letters", key).await;
        }
    }

    /// Who reads: the owner, a grant limited in time, one of few records, one of few fields.
    async fn readers(desk: &Desk) -> Vec<Principal> {
        let catalogue = desk.store.catalogue(&desk.subject_id).await.unwrap();
        let grant = || pdpp_testkit::grant(&catalogue.sources[0]);
        let all = ["id", "folder", "size", "weight", "read", "sent_at", "filed_at"];
        let pages = ["id", "letter_id", "text"];
        let in_time = grant().stream("letters", &all).since("2026-02-05").until("2026-02-07").build();
        let records = grant().stream("letters", &all).resources(&["l00003", "l00004", "l00999"]).build();
        let fields = grant().stream("letters", &["id", "folder", "size"]).stream("pages", &pages).build();
        let mut readers = vec![desk.owner()];
        readers.extend([in_time, records, fields].map(|grant| pdpp_testkit::client(&[grant])));
        readers
    }
}

fn told(row: &RecordRow) -> String {
    let children = row.expanded.iter().map(|children| {
        let rows: Vec<_> = children.rows.iter().map(told).collect();
        format!("{} more {}", rows.join(";"), children.has_more)
    });
    let (data, at) = (row.data.get(), row.emitted_at.to_rfc3339());
    let data = if data.len() > 500 { format!("{} bytes", data.len()) } else { data.to_owned() };
    format!("{} {} {at} {data} [{}]", row.part, row.key, children.collect::<Vec<_>>().join("|"))
}

fn told_page(page: &RecordsPage) -> String {
    let rows: Vec<_> = page.rows.iter().map(told).collect();
    let next = page.next.as_ref().map(|next| (next.value, next.key.clone()));
    format!("{}\n{next:?} {:?} {:?}", rows.join("\n"), page.total, page.window)
}

/// Every page of an answer, or that it is refused.
async fn pages(desk: &Desk, who: &Principal, mut request: RecordsRequest, most: usize) -> Vec<String> {
    let sealer = Sealer::new(&desk.store.sealing_key().await.unwrap());
    let entropy = SeededEntropy::new(5);
    let mut told = Vec::new();
    while told.len() < most {
        let Some(plan) = desk.try_page(who, request.clone()).await else { return vec!["refused".into()] };
        let page = desk.store.list_records(&plan).await.unwrap();
        told.push(told_page(&page));
        let Some(next) = page.next else { break };
        request.cursor = Some(sealer.seal_page(&entropy, plan.binding(), &next));
    }
    told
}

/// Every page of changes since a token, and the next token.
async fn changes(desk: &Desk, who: &Principal, since: &str, limit: u32) -> (Vec<String>, String) {
    let sealer = Sealer::new(&desk.store.sealing_key().await.unwrap());
    let entropy = SeededEntropy::new(5);
    let base = RecordsRequest { target: of("letters"), limit, ..RecordsRequest::default() };
    let mut request = RecordsRequest { changes_since: Some(since.to_owned()), ..base };
    let mut pages = Vec::new();
    loop {
        let plan = desk.changes(who, request.clone()).await;
        let outcome = desk.store.list_changes(&plan).await.unwrap();
        let ChangesOutcome::Page(page) = outcome else { panic!("expired") };
        let entry = |entry: &ChangeEntry| match entry {
            ChangeEntry::Live(row) => told(row),
            ChangeEntry::Deleted { part, key, deleted_at } => format!("{part} {key} gone {deleted_at:?}"),
        };
        pages.push(page.entries.iter().map(entry).collect::<Vec<_>>().join("\n"));
        let Some(next) = page.next else {
            return (pages, sealer.seal_changes_since(&entropy, plan.binding(), &page.horizon));
        };
        request.cursor = Some(sealer.seal_changes_page(&entropy, plan.binding(), &next));
    }
}

async fn filled(dice: &mut Dice, letters: u64) -> Both {
    let both = Both::new().await;
    for (connection, letters) in [letters, 300].into_iter().enumerate() {
        let records: Vec<_> = (0..letters).map(|n| dice.letter(n)).collect();
        both.put(connection, "letters", &records).await;
    }
    both
}

#[tokio::test]
async fn pages_are_the_same() {
    let dice = &mut Dice(7);
    let both = filled(dice, 2_600).await;
    let mut answered = 0;
    for round in 0..60 {
        let request = RecordsRequest {
            target: of("letters"),
            limit: dice.of(&[1, 3, 40]),
            order: dice.of(&[None, Some("asc".to_owned()), Some("desc".to_owned())]),
            filter: dice.filter(),
            window: dice.roll(3) == 0,
            ..RecordsRequest::default()
        };
        let [embedded, other] = &both.desks;
        for (a, b) in Both::readers(embedded).await.iter().zip(&Both::readers(other).await) {
            let expected = pages(embedded, a, request.clone(), 6).await;
            assert_eq!(pages(other, b, request.clone(), 6).await, expected, "{round}: {request:?}");
            answered += usize::from(expected[0] != "refused");
        }
    }
    assert!(answered > 150, "{answered} of 240 requests were answered");
}

#[tokio::test]
async fn numbers_are_the_same() {
    let dice = &mut Dice(8);
    let both = filled(dice, 1_500).await;
    let one = |metric: &str, field: Option<&str>| AggregateRequest {
        target: of("letters"),
        metric: Some(metric.to_owned()),
        field: field.map(str::to_owned),
        limit: Some("5".to_owned()),
        ..Default::default()
    };
    let mut requests = vec![one("count", None), one("count_distinct", Some("folder"))];
    for (metric, field) in
        [("sum", "size"), ("sum", "weight"), ("min", "size"), ("max", "sent_at"), ("max", "size")]
    {
        requests.push(one(metric, Some(field)));
    }
    for field in ["folder", "read", "filed_at"] {
        requests.push(AggregateRequest { group_by: Some(field.to_owned()), ..one("count", None) });
    }
    for granularity in ["hour", "day", "month"] {
        requests.push(AggregateRequest {
            group_by_time: Some("sent_at".to_owned()),
            granularity: Some(granularity.to_owned()),
            time_zone: Some("Europe/Berlin".to_owned()),
            ..one("count", None)
        });
    }
    let ([embedded, other], mut answered) = (&both.desks, 0);
    for request in requests {
        for _ in 0..12 {
            let request = AggregateRequest { filter: dice.filter(), ..request.clone() };
            for (a, b) in Both::readers(embedded).await.iter().zip(&Both::readers(other).await) {
                let (Some(a), Some(b)) =
                    (embedded.aggregate(a, &request).await, other.aggregate(b, &request).await)
                else {
                    continue;
                };
                let expected = embedded.store.aggregate(&a).await.unwrap();
                assert_eq!(other.store.aggregate(&b).await.unwrap(), expected, "{request:?}");
                answered += usize::from(expected.filtered_record_count > 0);
            }
        }
    }
    assert!(answered > 100, "{answered} answers were about any records");
}

#[tokio::test]
async fn changes_and_summaries_are_the_same() {
    let dice = &mut Dice(9);
    let both = filled(dice, 400).await;
    let [embedded, other] = &both.desks;
    let readers = (Both::readers(embedded).await, Both::readers(other).await);
    let mut tokens: Vec<_> =
        readers.0.iter().map(|_| ["beginning".to_owned(), "beginning".to_owned()]).collect();
    for round in 0..8 {
        for ((a, b), since) in readers.0.iter().zip(&readers.1).zip(&mut tokens) {
            let expected = changes(embedded, a, &since[0], 30).await;
            let found = changes(other, b, &since[1], 30).await;
            assert_eq!(found.0, expected.0, "{round}");
            if dice.roll(2) == 0 {
                *since = [expected.1, found.1];
            }
            let request =
                |limit| RecordsRequest { target: of("letters"), limit, ..RecordsRequest::default() };
            let plans = (embedded.page(a, request(1)).await, other.page(b, request(1)).await);
            let expected = embedded.store.summarize(plans.0.read()).await.unwrap();
            assert_eq!(other.store.summarize(plans.1.read()).await.unwrap(), expected, "{round}");
        }
        for _ in 0..40 {
            let (connection, n) = (usize::try_from(dice.roll(2)).unwrap(), dice.roll(30));
            if dice.roll(3) == 0 {
                both.delete(connection, &format!("l{n:05}")).await;
            } else {
                both.put(connection, "letters", &[dice.letter(n)]).await;
            }
        }
    }
}

#[tokio::test]
async fn large_records_end_pages_at_the_same_place() {
    let dice = &mut Dice(10);
    let both = Both::new().await;
    let letters: Vec<_> = (0..8).map(|n| dice.letter(n)).collect();
    both.put(0, "letters", &letters).await;
    for n in 0..16_u64 {
        let text = "x".repeat(usize::try_from(dice.roll(3_000_000)).unwrap());
        let page = json!({"id": format!("p{n:02}"), "letter_id": format!("l{:05}", n / 3), "text": text});
        both.put(0, "pages", &[page]).await;
    }
    let [embedded, other] = &both.desks;
    for (stream, expand) in [("pages", vec![]), ("letters", vec!["pages".to_owned()])] {
        for fields in [None, Some(vec!["id".to_owned()])] {
            let (target, expand) = (of(stream), expand.clone());
            let request = RecordsRequest { target, limit: 10, fields, expand, ..RecordsRequest::default() };
            for (a, b) in Both::readers(embedded).await.iter().zip(&Both::readers(other).await) {
                let expected = pages(embedded, a, request.clone(), 9).await;
                assert_eq!(pages(other, b, request.clone(), 9).await, expected, "{request:?}");
            }
        }
    }
}
