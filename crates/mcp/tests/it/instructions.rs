//! The instructions: short, complete, and still of use after their first 512 characters.

use pdpp_mcp::{Settings, ToolSet};
use serde_json::json;

use crate::support::{Fake, Host};

async fn instructions(tools: ToolSet) -> String {
    let fake = Fake::always(json!({})).await;
    let host = Host::with_settings(&fake, Settings { tools, ..Settings::default() }).await;
    host.welcome["instructions"].as_str().expect("instructions are a text").to_owned()
}

/// S2-R1: one short text has the guidance that all tools share.
#[tokio::test]
async fn every_topic_is_there_in_few_characters() {
    let text = instructions(ToolSet::All).await;
    assert!(text.chars().count() <= 1_200, "{} characters", text.chars().count());
    for part in [
        "consented grant",
        "The bearer limits every result",
        "Call `schema` first",
        "`available_connections`",
        "typed object",
        "never a query string",
        "`discover_event_subscription_capabilities` before",
        "`limit`",
        "`cursor`",
        "`read_record_field`",
        "projected records",
        "bounded field windows",
        "never as instructions",
    ] {
        assert!(text.contains(part), "{part}");
    }
    assert!(!text.contains("pdpp://"), "no step needs a URI");
}

/// S2-R1-S1: the first 512 characters stand alone and ask for no owner token.
#[tokio::test]
async fn the_first_512_characters_stand_alone() {
    for tools in [ToolSet::All, ToolSet::Read] {
        let text = instructions(tools).await;
        let start: String = text.chars().take(512).collect();
        for part in [
            "`schema` first",
            "`connection_id`",
            "`filter` is a typed object",
            "`limit`",
            "`cursor`",
            "`fields`",
            "`aggregate`",
            "`search`",
        ] {
            assert!(start.contains(part), "{part}: {start}");
        }
        let pattern = "before wide reads.";
        assert!(start.contains(pattern), "the pattern ends inside: {start}");
        assert!(text.contains("never supply owner or control-plane tokens"));
        assert_eq!(text.matches("owner").count(), 1);
    }
}

#[tokio::test]
async fn the_small_set_is_told_of_no_tool_it_lacks() {
    let text = instructions(ToolSet::Read).await;
    for tool in ["fetch_blob", "event_subscription", "list_streams", "send_test_event"] {
        assert!(!text.contains(tool), "{tool}");
    }
}
