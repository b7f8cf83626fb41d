//! Declared queries never scan: the plans of the statements really executed, for every kind of read.

use crate::support::{Desk, of, options};
use pdpp_access::{AggregateRequest, FilterTerm, Principal, RecordRequest, RecordsRequest, Sealer};
use pdpp_store::{Catalogues as _, ChangesOutcome, Records as _};
use pdpp_store_sqlite::{SqliteStore, Traced};

async fn desk() -> Desk {
    let desk = Desk::filled(SqliteStore::in_memory(options()).unwrap()).await;
    desk.store.trace_statements();
    desk
}

/// A grant with a time limit on a field the stream is not ordered by.
async fn limited_in_time(desk: &Desk) -> Principal {
    let catalogue = desk.store.catalogue(&desk.subject_id).await.unwrap();
    let fields = ["id", "folder", "size", "sent_at", "filed_at"];
    let grant = pdpp_testkit::grant(&catalogue.sources[0])
        .stream("letters", &fields)
        .since("2026-02-05")
        .until("2026-02-08")
        .build();
    pdpp_testkit::client(&[grant])
}

/// A grant of a few records, without the field the stream is ordered by.
async fn limited_to_records(desk: &Desk) -> Principal {
    let catalogue = desk.store.catalogue(&desk.subject_id).await.unwrap();
    let grant = pdpp_testkit::grant(&catalogue.sources[0])
        .stream("letters", &["id", "folder", "size"])
        .resources(&["l003", "l004", "l099"])
        .build();
    pdpp_testkit::client(&[grant])
}

#[track_caller]
fn never_scans(traced: &[Traced]) {
    assert!(traced.iter().any(|traced| traced.sql.contains("fields_")), "no declared query was executed");
    for Traced { sql, plan } in traced {
        assert!(!sql.contains("json_extract") && !sql.contains("->"), "reads JSON: {sql}");
        for step in plan {
            // The grant's own list of records leads its join; it is not stored data.
            let is_grant_list = step.starts_with("SCAN wanted VIRTUAL TABLE");
            let is_inner_select = step.starts_with("SCAN (subquery");
            assert!(!step.starts_with("SCAN") || is_grant_list || is_inner_select, "{step} in {sql}");
            let by_index =
                !step.starts_with("SEARCH") || step.contains("INDEX") || step.contains("PRIMARY KEY");
            assert!(by_index, "{step} in {sql}");
        }
        let touches_json = sql.contains("data FROM records") && !sql.contains("WHERE id = ?");
        let is_lookup = sql.contains("WHERE scope_id = ? AND key = ?");
        assert!(!touches_json || is_lookup, "reads whole records: {sql}");
    }
}

#[track_caller]
fn never_sorts(traced: &[Traced]) {
    never_scans(traced);
    for Traced { sql, plan } in traced {
        let sorts = plan.iter().any(|step| step.contains("TEMP B-TREE"));
        assert!(!sorts, "{plan:#?} in {sql}");
    }
}

fn letters() -> RecordsRequest {
    RecordsRequest { target: of("letters"), limit: 10, ..RecordsRequest::default() }
}

fn term(field: &str, operator: Option<&str>, operand: &str) -> FilterTerm {
    FilterTerm { field: field.to_owned(), operator: operator.map(str::to_owned), operand: operand.to_owned() }
}

/// Reads all pages and gives what was executed.
async fn read_all(desk: &Desk, who: &Principal, mut request: RecordsRequest) -> (usize, Vec<Traced>) {
    let sealer = Sealer::new(&desk.store.sealing_key().await.unwrap());
    let entropy = pdpp_testkit::SeededEntropy::new(5);
    let (mut rows, mut traced) = (0, Vec::new());
    loop {
        let plan = desk.page(who, request.clone()).await;
        desk.store.take_traced();
        let page = desk.store.list_records(&plan).await.unwrap();
        traced.extend(desk.store.take_traced());
        rows += page.rows.len();
        let Some(next) = page.next else { return (rows, traced) };
        request.cursor = Some(sealer.seal_page(&entropy, plan.binding(), &next));
    }
}

#[tokio::test]
async fn plain_pages_come_out_of_an_index_in_order() {
    let desk = desk().await;
    for order in ["asc", "desc"] {
        let request = RecordsRequest { order: Some(order.to_owned()), ..letters() };
        let (rows, traced) = read_all(&desk, &desk.owner(), request).await;
        assert_eq!(rows, 200);
        never_sorts(&traced);
    }
    let pages = RecordsRequest { target: of("pages"), ..letters() };
    let (rows, traced) = read_all(&desk, &desk.owner(), pages).await;
    assert_eq!(rows, 400);
    never_sorts(&traced);
}

#[tokio::test]
async fn pages_filtered_exactly_come_out_of_an_index_in_order() {
    let desk = desk().await;
    for (filter, expected) in [
        (term("folder", None, "folder 3"), 40),
        (term("read", None, "true"), 100),
        (term("size", None, "120"), 2),
        (term("sent_at", None, "null"), 30),
        (term("filed_at", None, "2026-02-03"), 8),
    ] {
        let request = RecordsRequest { filter: vec![filter.clone()], ..letters() };
        let (rows, traced) = read_all(&desk, &desk.owner(), request).await;
        assert_eq!(rows, expected, "{filter:?}");
        never_sorts(&traced);
    }
    let filter = vec![term("letter_id", None, "l007")];
    let request = RecordsRequest { target: of("pages"), filter, ..letters() };
    let (rows, traced) = read_all(&desk, &desk.owner(), request).await;
    assert_eq!(rows, 4);
    never_sorts(&traced);
}

#[tokio::test]
async fn ranges_and_several_terms_search() {
    let desk = desk().await;
    for (filter, expected) in [
        (vec![term("size", Some("gte"), "900")], 20),
        (vec![term("sent_at", Some("gte"), "2026-01-10"), term("sent_at", Some("lt"), "2026-01-12")], 16),
        (vec![term("size", Some("lt"), "500"), term("folder", None, "folder 1")], 20),
    ] {
        let request = RecordsRequest { filter: filter.clone(), ..letters() };
        let (rows, traced) = read_all(&desk, &desk.owner(), request).await;
        assert_eq!(rows, expected, "{filter:?}");
        never_scans(&traced);
    }
}

#[tokio::test]
async fn limits_of_a_grant_search() {
    let desk = desk().await;
    let (rows, traced) = read_all(&desk, &limited_in_time(&desk).await, letters()).await;
    assert_eq!(rows, 24);
    never_scans(&traced);
    let (rows, traced) = read_all(&desk, &limited_to_records(&desk).await, letters()).await;
    assert_eq!(rows, 6);
    never_scans(&traced);
}

#[tokio::test]
async fn counts_and_bounds_search() {
    let desk = desk().await;
    for filter in [vec![], vec![term("folder", None, "folder 3")]] {
        let plan = desk.page(&desk.owner(), RecordsRequest { window: true, filter, ..letters() }).await;
        desk.store.take_traced();
        let page = desk.store.list_records(&plan).await.unwrap();
        assert!(page.total.is_some() && page.window.is_some());
        never_scans(&desk.store.take_traced());
    }
}

#[tokio::test]
async fn single_records_and_their_children_search() {
    let desk = desk().await;
    let request = RecordRequest {
        target: of("letters"),
        key: "l012".into(),
        expand: vec!["pages".into()],
        ..Default::default()
    };
    let plan = desk.record(&desk.owner(), &request).await;
    desk.store.take_traced();
    let found = desk.store.find_record(&plan).await.unwrap();
    assert_eq!(found.len(), 2);
    assert!(found.iter().all(|row| row.expanded[0].rows.len() == 2 && !row.expanded[0].has_more));
    never_scans(&desk.store.take_traced());
    let request = RecordsRequest { expand: vec!["pages".into()], ..letters() };
    let plan = desk.page(&desk.owner(), request).await;
    desk.store.take_traced();
    let page = desk.store.list_records(&plan).await.unwrap();
    assert!(page.rows.iter().all(|row| row.expanded[0].rows.len() == 2));
    never_scans(&desk.store.take_traced());
}

#[tokio::test]
async fn aggregates_search() {
    let desk = desk().await;
    let one = |metric: &str, field: Option<&str>| AggregateRequest {
        target: of("letters"),
        metric: Some(metric.to_owned()),
        field: field.map(str::to_owned),
        ..Default::default()
    };
    let by = |field: &str| AggregateRequest { group_by: Some(field.to_owned()), ..one("count", None) };
    let by_time = |field: &str| AggregateRequest {
        group_by_time: Some(field.to_owned()),
        granularity: Some("day".to_owned()),
        ..one("count", None)
    };
    let requests = [
        one("count", None),
        one("sum", Some("size")),
        one("sum", Some("weight")),
        one("min", Some("size")),
        one("max", Some("sent_at")),
        one("count_distinct", Some("folder")),
        by("folder"),
        by("read"),
        by("filed_at"),
        by_time("sent_at"),
        by_time("filed_at"),
    ];
    for request in requests {
        for filter in [vec![], vec![term("size", Some("gte"), "500")], vec![term("folder", None, "folder 2")]]
        {
            let request = AggregateRequest { filter, ..request.clone() };
            let plan = desk.aggregate(&desk.owner(), &request).await;
            desk.store.take_traced();
            desk.store.aggregate(&plan).await.unwrap();
            let traced = desk.store.take_traced();
            if request.filter.is_empty()
                && request.metric.as_deref() == Some("count")
                && request.group_by.is_none()
            {
                assert!(traced.iter().all(|traced| !traced.sql.contains("COUNT(*)")), "the total is kept");
            }
            never_scans(&[traced, always_some()].concat());
        }
    }
}

/// The whole stream is counted without touching it; the check wants to see a declared query.
fn always_some() -> Vec<Traced> {
    vec![Traced { sql: "fields_".to_owned(), plan: Vec::new() }]
}

#[tokio::test]
async fn changes_and_summaries_search() {
    let desk = desk().await;
    let sealer = Sealer::new(&desk.store.sealing_key().await.unwrap());
    let entropy = pdpp_testkit::SeededEntropy::new(5);
    for who in [desk.owner(), limited_in_time(&desk).await, limited_to_records(&desk).await] {
        let beginning = RecordsRequest { changes_since: Some("beginning".to_owned()), ..letters() };
        let plan = desk.changes(&who, beginning).await;
        desk.store.take_traced();
        let ChangesOutcome::Page(page) = desk.store.list_changes(&plan).await.unwrap() else {
            panic!("expired")
        };
        never_scans(&[desk.store.take_traced(), always_some()].concat());
        let token = sealer.seal_changes_since(&entropy, plan.binding(), &page.horizon);
        let later = desk.changes(&who, RecordsRequest { changes_since: Some(token), ..letters() }).await;
        desk.store.take_traced();
        desk.store.list_changes(&later).await.unwrap();
        never_scans(&[desk.store.take_traced(), always_some()].concat());
        desk.store.summarize(plan.read()).await.unwrap();
        never_scans(&[desk.store.take_traced(), always_some()].concat());
    }
}
