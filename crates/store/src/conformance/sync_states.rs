//! Where connectors left off.

use std::sync::Arc;

use pdpp_wire::{ConnectorKey, GrantId};
use serde_json::{Map, Value, json};

use super::world::{World, subject};
use crate::{StateScope, Store};

fn scope(world: &World) -> StateScope {
    StateScope {
        subject_id: world.subject.clone(),
        connector_key: ConnectorKey::parse("desk").expect("a plain key"),
        connection_id: None,
        grant_id: None,
    }
}

fn streams(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

pub async fn a_value_is_replaced_and_the_others_kept(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    let scope = scope(&world);
    let empty = world.store.get_state(&scope).await.expect("states are answered");
    assert_eq!((empty.streams.len(), empty.updated_at), (0, None));
    let first = streams(json!({"letters": {"page": 1}, "folders": "x"}));
    world.store.put_state(&scope, &first).await.expect("states are kept");
    let second = streams(json!({"letters": null, "days": [1, 2.5]}));
    let put = world.store.put_state(&scope, &second).await.expect("states are kept");
    assert_eq!(put.streams, streams(json!({"letters": null, "folders": "x", "days": [1, 2.5]})));
    assert!(put.updated_at.is_some());
    assert_eq!(world.store.get_state(&scope).await.expect("states are answered"), put);
}

pub async fn every_scope_has_a_state_of_its_own(store: Arc<dyn Store>) {
    let world = World::new(store).await;
    let base = scope(&world);
    let scopes = [
        base.clone(),
        StateScope { connection_id: Some(world.home.clone()), ..base.clone() },
        StateScope { connection_id: Some(world.work.clone()), ..base.clone() },
        StateScope { grant_id: Some(GrantId::parse("grt_1").expect("a plain id")), ..base.clone() },
        StateScope { connector_key: ConnectorKey::parse("other").expect("a plain key"), ..base.clone() },
        StateScope { subject_id: subject("someone_else"), ..base },
    ];
    for (n, scope) in scopes.iter().enumerate() {
        let put = world.store.put_state(scope, &streams(json!({"letters": n}))).await;
        put.expect("states are kept");
    }
    for (n, scope) in scopes.iter().enumerate() {
        let state = world.store.get_state(scope).await.expect("states are answered");
        assert_eq!(state.streams, streams(json!({"letters": n})), "{scope:?}");
    }
}
