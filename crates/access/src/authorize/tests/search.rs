//! Which connections a search looks into, and why it leaves others out.

use expect_test::{Expect, expect};

use super::written::{client, denied, one_source, two_sources};
use crate::{Authorizer, FilterTerm, Principal, Sealer, SearchPlan, SearchRequest};

fn request() -> SearchRequest {
    SearchRequest {
        q: "berth".to_owned(),
        streams: Vec::new(),
        connection_id: None,
        filter: Vec::new(),
        since: None,
        until: None,
        order: None,
        limit: 10,
        cursor: None,
    }
}

#[track_caller]
fn check(grants: &[&str], since: Option<&str>, expected: Expect) {
    let principal: Principal = client(grants);
    let request = SearchRequest { since: since.map(str::to_owned), ..request() };
    let outcome = Authorizer::new(&principal, &one_source()).search(&request, &Sealer::new(&[1; 32]));
    expected.assert_eq(&outcome.map_or_else(|denial| denied(&denial), |plan| shown(&plan)));
}

fn shown(plan: &SearchPlan) -> String {
    let parts = plan.parts().iter().map(|part| format!("{}", part.part().connection_id()));
    let skipped = plan.skipped().iter().map(|one| {
        let which: Vec<_> = one.connection_ids.iter().map(ToString::to_string).collect();
        format!("- {} [{}] {:?}", one.stream, which.join(","), one.reason)
    });
    parts.chain(skipped).collect::<Vec<_>>().join(" ")
}

#[test]
fn every_connection_that_is_left_out_is_told_with_its_reason() {
    let (timed, untimed) = ("chat messages@a: id,text,sent_at", "chat messages@b: id,text");
    check(&[timed, untimed], None, expect!["a b"]);
    check(&[timed, untimed], Some("2026-01-01"), expect!["a - messages [b] NoTimeField"]);
    check(&[untimed], Some("2026-01-01"), expect!["- messages [] NoTimeField"]);
    check(&[timed, "chat messages@b: id,author"], None, expect!["a - messages [b] NoSearchField"]);
    check(
        &["chat messages@a: id,author", untimed],
        Some("2026-01-01"),
        expect!["- messages [a] NoSearchField - messages [b] NoTimeField"],
    );
    check(&["chat messages@a,b: id,author"], None, expect!["- messages [] NoSearchField"]);
}

/// A filter reads one stream of one source; where several have it, the connections to choose from are told.
#[test]
fn a_filter_on_a_stream_of_two_sources_offers_their_connections() {
    let grants = ["chat messages@a: id,text,author", "mail messages@m: id,text,author"];
    let principal: Principal = client(&grants);
    let filter = vec![FilterTerm { field: "author".to_owned(), operator: None, operand: "Ana".to_owned() }];
    let outcome = |request: &SearchRequest| {
        let plan = Authorizer::new(&principal, &two_sources()).search(request, &Sealer::new(&[1; 32]));
        plan.map_or_else(|denial| denied(&denial), |plan| shown(&plan))
    };
    let asked = SearchRequest { streams: vec!["messages".to_owned()], filter, ..request() };
    expect!["denied: ambiguous_connection a m"].assert_eq(&outcome(&asked));
    let one = SearchRequest { connection_id: Some("m".to_owned()), ..asked };
    expect!["m"].assert_eq(&outcome(&one));
}
