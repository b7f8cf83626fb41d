//! Refresh tokens: rotation, the lost answer, and what reuse costs.

use serde_json::json;

use crate::desk::Desk;
use crate::flow::notes;

#[tokio::test]
async fn a_refresh_gives_a_new_pair_and_the_old_access_token_lives_out_its_time() {
    let desk = Desk::new().await;
    let tokens = desk.connect(&notes("continuous")).await;
    desk.clock.advance_seconds(500);
    let answer = desk.refresh(&tokens.client_id, tokens.refresh()).await.expect("200 ok");
    assert_ne!(answer.text("refresh_token"), tokens.refresh());
    assert_eq!(answer.body["expires_in"], json!(600));
    assert_eq!(answer.text("grant_id"), tokens.grant_id);
    assert_eq!(desk.read(&answer.text("access_token")).await, "200 ok");
    assert_eq!(desk.read(&tokens.access).await, "200 ok");
}

/// 9.2-13: a client whose access token has expired is told to refresh, not that its grant is gone.
#[tokio::test]
async fn an_expired_access_token_is_401_and_its_refresh_token_serves() {
    let desk = Desk::new().await;
    let tokens = desk.connect(&notes("continuous")).await;
    desk.clock.advance_seconds(600);
    let refused = desk.get("/v1/streams", Some(&tokens.access)).await.expect("401 authentication_error");
    assert!(refused.header("www-authenticate").contains("error=\"invalid_token\""));
    let answer = desk.refresh(&tokens.client_id, tokens.refresh()).await.expect("200 ok");
    assert_eq!(desk.read(&answer.text("access_token")).await, "200 ok");
}

/// 9.3-4: reuse ends the family and every access token of it.
#[tokio::test]
async fn a_refresh_token_that_comes_back_ends_its_family() {
    let desk = Desk::new().await;
    let tokens = desk.connect(&notes("continuous")).await;
    let bystander = desk.connect(&notes("continuous")).await;
    let second = desk.refresh(&tokens.client_id, tokens.refresh()).await.expect("200 ok");
    let third = desk.refresh(&tokens.client_id, &second.text("refresh_token")).await.expect("200 ok");
    desk.refresh(&tokens.client_id, tokens.refresh()).await.expect("400 invalid_grant");
    for access in [&tokens.access, &second.text("access_token"), &third.text("access_token")] {
        assert_eq!(desk.read(access).await, "401 authentication_error");
    }
    desk.refresh(&tokens.client_id, &third.text("refresh_token")).await.expect("400 invalid_grant");
    assert_eq!(desk.read(&bystander.access).await, "200 ok");
}

/// For half a minute a lost answer is given again, with the same successor.
#[tokio::test]
async fn a_lost_answer_is_given_again_for_thirty_seconds() {
    let desk = Desk::new().await;
    let tokens = desk.connect(&notes("continuous")).await;
    let lost = desk.refresh(&tokens.client_id, tokens.refresh()).await.expect("200 ok");
    desk.clock.advance_seconds(30);
    let again = desk.refresh(&tokens.client_id, tokens.refresh()).await.expect("200 ok");
    assert_eq!(again.text("refresh_token"), lost.text("refresh_token"));
    assert_eq!(desk.read(&again.text("access_token")).await, "200 ok");
    desk.clock.advance_seconds(1);
    desk.refresh(&tokens.client_id, tokens.refresh()).await.expect("400 invalid_grant");
    desk.refresh(&tokens.client_id, &lost.text("refresh_token")).await.expect("400 invalid_grant");
    assert_eq!(desk.read(&again.text("access_token")).await, "401 authentication_error");
}

/// Once the successor was used, the old token is reuse, however soon.
#[tokio::test]
async fn no_answer_is_given_again_once_its_successor_was_used() {
    let desk = Desk::new().await;
    let tokens = desk.connect(&notes("continuous")).await;
    let second = desk.refresh(&tokens.client_id, tokens.refresh()).await.expect("200 ok");
    let third = desk.refresh(&tokens.client_id, &second.text("refresh_token")).await.expect("200 ok");
    desk.refresh(&tokens.client_id, tokens.refresh()).await.expect("400 invalid_grant");
    assert_eq!(desk.read(&third.text("access_token")).await, "401 authentication_error");
}

/// Two refreshes at the same moment, as hosts do: both get the same successor, and nobody has to reconnect.
#[tokio::test(flavor = "multi_thread")]
async fn two_refreshes_at_once_get_the_same_successor() {
    let desk = Desk::new().await;
    let tokens = desk.connect(&notes("continuous")).await;
    let (one, two) = tokio::join!(
        desk.refresh(&tokens.client_id, tokens.refresh()),
        desk.refresh(&tokens.client_id, tokens.refresh())
    );
    let (one, two) = (one.expect("200 ok"), two.expect("200 ok"));
    assert_eq!(one.text("refresh_token"), two.text("refresh_token"));
    desk.refresh(&tokens.client_id, &one.text("refresh_token")).await.expect("200 ok");
}

#[tokio::test]
async fn a_refresh_token_serves_only_the_client_it_was_given_to() {
    let desk = Desk::new().await;
    let tokens = desk.connect(&notes("continuous")).await;
    let stranger = desk.register().await;
    desk.refresh(&stranger, tokens.refresh()).await.expect("400 invalid_grant");
    desk.refresh("cli_unknown", tokens.refresh()).await.expect("400 invalid_client");
    for foreign in [&tokens.access, "rt_", &tokens.refresh()[..20]] {
        desk.refresh(&tokens.client_id, foreign).await.expect("400 invalid_grant");
    }
    desk.refresh(&tokens.client_id, tokens.refresh()).await.expect("200 ok");
}

/// 9.2-9: a family ends after a year even when its grant does not, and with its grant when that ends first.
#[tokio::test]
async fn a_family_has_an_absolute_end() {
    let desk = Desk::new().await;
    let tokens = desk.connect(&notes("continuous")).await;
    desk.clock.advance_seconds(365 * 86_400 - 60);
    let last = desk.refresh(&tokens.client_id, tokens.refresh()).await.expect("200 ok");
    assert_eq!(last.body["expires_in"], json!(60), "no access token outlives its family");
    desk.clock.advance_seconds(60);
    desk.refresh(&tokens.client_id, &last.text("refresh_token")).await.expect("400 invalid_grant");
    assert_eq!(desk.read(&last.text("access_token")).await, "401 authentication_error");
}

#[tokio::test]
async fn a_clock_that_runs_backwards_gives_no_answer_again() {
    let desk = Desk::new().await;
    let tokens = desk.connect(&notes("continuous")).await;
    desk.refresh(&tokens.client_id, tokens.refresh()).await.expect("200 ok");
    desk.clock.advance_seconds(-3_600);
    desk.refresh(&tokens.client_id, tokens.refresh()).await.expect("400 invalid_grant");
}

/// RFC 9700, 4.14: a refresh token is not turned into access to another server.
#[tokio::test]
async fn a_refresh_names_no_other_server() {
    let desk = Desk::new().await;
    let tokens = desk.connect(&notes("continuous")).await;
    for (resource, verdict) in
        [("https://evil.test/mcp", "400 invalid_target"), (desk.issuer.as_str(), "200 ok")]
    {
        let pairs = [
            ("grant_type", "refresh_token"),
            ("refresh_token", tokens.refresh()),
            ("client_id", tokens.client_id.as_str()),
            ("resource", resource),
        ];
        desk.form("/oauth/token", &pairs).await.expect(verdict);
    }
}
