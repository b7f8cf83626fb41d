//! Declared queries never scan: the plans of the statements really executed, for every kind of read.

use crate::desk::{Desk, of};
use pdpp_access::{AggregateRequest, FilterTerm, Principal, RecordRequest, RecordsRequest, Sealer};
use pdpp_store::ChangesOutcome;
use pdpp_store_postgres::{Traced, traced};
use serde_json::Value;

async fn desk() -> Desk {
    Desk::with_letters(100).await
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

/// A plan's steps, with those below each.
fn steps(plan: &Value) -> Vec<&Value> {
    let mut steps = vec![plan];
    let mut below = 0;
    while let Some(step) = steps.get(below) {
        below += 1;
        steps.extend(step["Plans"].as_array().into_iter().flatten());
    }
    steps
}

fn text<'v>(step: &'v Value, name: &str) -> &'v str {
    step[name].as_str().unwrap_or_default()
}

#[track_caller]
fn never_scans(traced: &[Traced]) {
    let is_declared =
        |traced: &Traced| ["record", "revisions"].iter().any(|table| traced.sql.contains(table));
    assert!(traced.iter().any(is_declared), "no declared query was executed");
    for Traced { sql, plan } in traced {
        assert!(!sql.contains("->") && !sql.contains("jsonb"), "reads JSON: {sql}");
        let steps = steps(&plan[0]["Plan"]);
        let mut partitions = Vec::new();
        for step in steps {
            let kind = text(step, "Node Type");
            let is_forbidden = ["Seq Scan", "Bitmap", "Hash Join", "Merge Join", "Gather"];
            assert!(!is_forbidden.iter().any(|name| kind.contains(name)), "{step:#} in {sql}");
            let Some(relation) = step["Relation Name"].as_str() else { continue };
            assert!(kind.starts_with("Index"), "{step:#} in {sql}");
            partitions.push(relation.rsplit_once("_p").unwrap().1.to_owned());
            let (condition, index) = (text(step, "Index Cond"), text(step, "Index Name"));
            let led = condition.starts_with("((subject_id = ") || condition.starts_with("(subject_id = ");
            assert!(led, "{step:#} in {sql}");
            // A lookup by key has to be one in the index that begins with the key's columns.
            let at_once = condition.contains("(key >= ") && condition.contains("(key <= ");
            let by_key = condition.contains("(key = ") || at_once;
            assert!(!by_key || index.ends_with("_pkey"), "{step:#} in {sql}");
            let aside = text(step, "Filter");
            let is_missed = ["(value >", "(value <", "(value =", "(field =", "(scope_id =", "(sequence "];
            assert!(!is_missed.iter().any(|column| aside.contains(column)), "{step:#} in {sql}");
        }
        partitions.sort_unstable();
        partitions.dedup();
        assert!(partitions.len() <= 1, "{partitions:?} in {sql}");
    }
}

/// What is sorted are the rows of the answer, by the numbers they were asked for with.
#[track_caller]
fn never_sorts(traced: &[Traced]) {
    never_scans(traced);
    for Traced { sql, plan } in traced {
        for step in steps(&plan[0]["Plan"]) {
            let is_asked =
                step["Sort Key"].as_array().is_some_and(|keys| keys.len() == 1 && keys[0] == "w.n");
            assert!(!text(step, "Node Type").contains("Sort") || is_asked, "{step:#} in {sql}");
        }
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
    let (mut rows, mut executed) = (0, Vec::new());
    loop {
        let plan = desk.page(who, request.clone()).await;
        let (page, seen) = traced(desk.store.list_records(&plan)).await;
        let page = page.unwrap();
        executed.extend(seen);
        rows += page.rows.len();
        let Some(next) = page.next else { return (rows, executed) };
        request.cursor = Some(sealer.seal_page(&entropy, plan.binding(), &next));
    }
}

/// Makes the server know its tables, as it does after a while.
async fn analyze(desk: &Desk) {
    let url = desk.database.as_ref().unwrap().url();
    let (client, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await.unwrap();
    let running = tokio::spawn(connection);
    client.batch_execute("SET pdpp.subject = '*'; ANALYZE").await.unwrap();
    drop(client);
    running.await.unwrap().unwrap();
}

#[tokio::test]
async fn plain_pages_come_out_of_an_index_in_order() {
    let desk = desk().await;
    for is_known in [false, true] {
        if is_known {
            analyze(&desk).await;
        }
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
async fn a_walk_that_gets_nowhere_is_given_up_for_another_index() {
    let desk = Desk::with_letters(2_500).await;
    for is_known in [false, true] {
        if is_known {
            analyze(&desk).await;
        }
        for (filter, expected) in [
            (vec![term("size", Some("gte"), "24960")], 8),
            (vec![term("size", Some("lt"), "40"), term("read", None, "true")], 4),
            (vec![term("size", Some("gt"), "24900"), term("sent_at", Some("gte"), "2026-01-10")], 2),
        ] {
            for order in ["asc", "desc"] {
                let order = Some(order.to_owned());
                let request = RecordsRequest { filter: filter.clone(), order, limit: 3, ..letters() };
                let (rows, traced) = read_all(&desk, &desk.owner(), request).await;
                assert_eq!(rows, expected, "{filter:?}");
                assert!(
                    traced.iter().any(|traced| traced.sql.contains("OFFSET 0) AS x ORDER BY")),
                    "{filter:?}"
                );
                never_scans(&traced);
            }
        }
        for who in [limited_in_time(&desk).await, limited_to_records(&desk).await] {
            for filter in [vec![], vec![term("size", Some("lt"), "100")]] {
                let request = RecordsRequest { filter, limit: 100, ..letters() };
                never_scans(&read_all(&desk, &who, request).await.1);
            }
        }
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
        let (page, executed) = traced(desk.store.list_records(&plan)).await;
        let page = page.unwrap();
        assert!(page.total.is_some() && page.window.is_some());
        never_scans(&executed);
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
    let (found, executed) = traced(desk.store.find_record(&plan)).await;
    let found = found.unwrap();
    assert_eq!(found.len(), 2);
    assert!(found.iter().all(|row| row.expanded[0].rows.len() == 2 && !row.expanded[0].has_more));
    never_scans(&executed);
    let request = RecordsRequest { expand: vec!["pages".into()], ..letters() };
    let plan = desk.page(&desk.owner(), request).await;
    let (page, executed) = traced(desk.store.list_records(&plan)).await;
    assert!(page.unwrap().rows.iter().all(|row| row.expanded[0].rows.len() == 2));
    assert!(executed.len() <= 10, "{} statements for a page of ten and its children", executed.len());
    never_scans(&executed);
}

/// What a search found is looked up by key, and what its filter leaves by the filter's index.
#[tokio::test]
async fn hits_are_looked_up_and_filters_of_a_search_search() {
    let desk = desk().await;
    for is_known in [false, true] {
        if is_known {
            analyze(&desk).await;
        }
        for who in [desk.owner(), limited_in_time(&desk).await, limited_to_records(&desk).await] {
            let filter = vec![term("folder", None, "folder 3"), term("size", Some("lt"), "900")];
            let plan = desk.search(&who, filter).await;
            let (left, executed) = traced(desk.store.filtered_keys(&plan, 1_000)).await;
            let left = left.unwrap().unwrap();
            assert!(!left.is_empty());
            never_scans(&executed);
            let (rows, executed) = traced(desk.store.find_hits(&plan, &left)).await;
            assert_eq!(rows.unwrap().len(), left.len());
            never_scans(&executed);
        }
    }
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
            let plan = desk.aggregate(&desk.owner(), &request).await.unwrap();
            let (answer, executed) = traced(desk.store.aggregate(&plan)).await;
            answer.unwrap();
            let is_count = request.metric.as_deref() == Some("count");
            if request.filter.is_empty()
                && is_count
                && request.group_by.is_none()
                && request.group_by_time.is_none()
            {
                assert!(executed.iter().all(|traced| !traced.sql.contains("count(*)")), "the total is kept");
                assert!(executed.iter().all(|traced| !traced.sql.contains("record")), "nothing is read");
            } else {
                never_scans(&executed);
            }
        }
    }
}

#[tokio::test]
async fn changes_and_summaries_search() {
    let desk = desk().await;
    let sealer = Sealer::new(&desk.store.sealing_key().await.unwrap());
    let entropy = pdpp_testkit::SeededEntropy::new(5);
    for who in [desk.owner(), limited_in_time(&desk).await, limited_to_records(&desk).await] {
        let beginning = RecordsRequest { changes_since: Some("beginning".to_owned()), ..letters() };
        let plan = desk.changes(&who, beginning).await;
        let (outcome, executed) = traced(desk.store.list_changes(&plan)).await;
        let ChangesOutcome::Page(page) = outcome.unwrap() else { panic!("expired") };
        never_scans(&executed);
        let token = sealer.seal_changes_since(&entropy, plan.binding(), &page.horizon);
        desk.delete(0, "letters", "l004").await;
        desk.put(0, "letters", vec![serde_json::json!({"id": "l003", "folder": "moved"})]).await;
        let later = desk.changes(&who, RecordsRequest { changes_since: Some(token), ..letters() }).await;
        let (outcome, executed) = traced(desk.store.list_changes(&later)).await;
        assert!(matches!(outcome.unwrap(), ChangesOutcome::Page(_)));
        never_scans(&executed);
        let (summaries, executed) = traced(desk.store.summarize(plan.read())).await;
        assert_eq!(summaries.unwrap().len(), 2);
        never_scans(&executed);
    }
}
