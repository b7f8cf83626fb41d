//! Which connections a search looks into, and why it leaves others out.

use expect_test::{Expect, expect};

use super::written::{client, denied, one_source};
use crate::{Authorizer, Principal, Sealer, SearchPlan, SearchRequest};

#[track_caller]
fn check(grants: &[&str], since: Option<&str>, expected: Expect) {
    let principal: Principal = client(grants);
    let request = SearchRequest {
        q: "berth".to_owned(),
        streams: Vec::new(),
        connection_id: None,
        filter: Vec::new(),
        since: since.map(str::to_owned),
        until: None,
        order: None,
        limit: 10,
        cursor: None,
    };
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
