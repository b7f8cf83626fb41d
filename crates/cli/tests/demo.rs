//! `pdpp demo`.

use crate::support::Pdpp;

#[test]
fn the_tour_shows_a_read_a_window_and_a_refusal() {
    let pdpp = Pdpp::new();
    let shown = pdpp.ok(&["demo", "--once", "--listen", "127.0.0.1:0"]);
    for expected in [
        "<mark>winter</mark> <mark>storage</mark>",
        "winter storage contract",
        "field_not_granted",
        "curl -gH",
        "pdpp audit",
    ] {
        assert!(shown.contains(expected), "{expected}:\n{shown}");
    }
}

#[test]
fn a_kept_demo_can_be_used_afterwards() {
    let pdpp = Pdpp::new();
    let kept = pdpp.path("kept").display().to_string();
    pdpp.ok(&["demo", "--once", "--keep", &kept, "--listen", "127.0.0.1:0"]);
    let ledger = pdpp.ok(&["audit", "--data", &kept]);
    assert!(ledger.contains("refused: field_not_granted"), "{ledger}");
}
