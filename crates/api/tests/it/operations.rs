//! Health and readiness.

use crate::world::World;

#[tokio::test]
async fn a_running_server_is_alive_and_ready() {
    let world = World::new().await;
    assert_eq!(world.get("", "/healthz").await.json(), serde_json::json!({"status": "ok"}));
    assert_eq!(world.get("", "/readyz").await.json(), serde_json::json!({"status": "ready"}));
}
