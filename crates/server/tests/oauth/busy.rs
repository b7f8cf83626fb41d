//! A store that is busy: callers are told to try again, and nothing they hold is used up meanwhile.

use rusqlite::Connection;

use crate::desk::Desk;
use crate::flow::notes;

#[tokio::test]
async fn a_busy_store_asks_for_patience_and_uses_nothing_up() {
    let desk = Desk::new().await;
    let client = desk.register().await;
    let code = desk.code(&client, &notes("continuous")).await;
    let other = Connection::open(desk.directory.path().join("store.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let refused = desk.redeem(&client, &code, &[]).await.expect("503 temporarily_unavailable");
    assert_eq!(refused.text("error_description"), "The data is being changed right now; try again shortly.");
    other.execute_batch("ROLLBACK").unwrap();
    desk.redeem(&client, &code, &[]).await.expect("200 ok");
}
