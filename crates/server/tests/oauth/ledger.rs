//! Every issuance and refusal is written down, and no secret is, anywhere.

use pdpp_store::{Disclosure, DisclosureFilter, Door};
use serde_json::json;

use crate::desk::Desk;
use crate::flow::notes;

async fn entries(desk: &Desk) -> Vec<Disclosure> {
    let filter = DisclosureFilter { limit: 1_000, ..DisclosureFilter::default() };
    let all = desk.personal.store().list_disclosures(&pdpp_server::owner_subject(), &filter).await.unwrap();
    all.into_iter().filter(|entry| entry.door == Door::OAuth).collect()
}

#[tokio::test]
async fn what_is_given_and_refused_is_written_down() {
    let desk = Desk::new().await;
    let tokens = desk.connect(&notes("continuous")).await;
    desk.refresh(&tokens.client_id, "rt_nonsense").await.expect("400 invalid_grant");
    desk.json(&format!("/grants/{}/revoke", tokens.grant_id), Some(&desk.owner), &json!({}))
        .await
        .expect("200 ok");
    desk.json("/oauth/register", None, &json!({ "redirect_uris": ["ftp://x"] })).await;
    let written: Vec<_> = entries(&desk)
        .await
        .iter()
        .rev()
        .map(|entry| match &entry.refused {
            None => entry.action.clone(),
            Some(_) => format!("{} refused: {}", entry.action, entry.note.as_deref().unwrap()),
        })
        .collect();
    assert_eq!(
        written,
        [
            "client.register",
            "request.authorize",
            "consent.show",
            "consent.approve",
            "token.code",
            "token.refresh refused: invalid_grant",
            "grant.revoke",
            "client.register refused: invalid_redirect_uri",
        ]
    );
    let issued = entries(&desk).await.into_iter().find(|entry| entry.action == "token.code").unwrap();
    assert_eq!(issued.client_id.unwrap().as_str(), tokens.client_id);
    assert_eq!(issued.grant_ids[0].as_str(), tokens.grant_id);
    assert!(issued.token_id.unwrap().as_str().starts_with("tok_"));
}

/// A grant's last use is a read, never an issuance.
#[tokio::test]
async fn issuing_a_token_is_no_use_of_its_grant() {
    let desk = Desk::new().await;
    let tokens = desk.connect(&notes("continuous")).await;
    let last_use = async || {
        let grants = desk.personal.store().list_grants(&pdpp_server::owner_subject()).await.unwrap();
        grants[0].last_used_at
    };
    assert_eq!(last_use().await, None);
    desk.read(&tokens.access).await;
    assert_eq!(last_use().await, Some(desk.personal.clock().now()));
}

/// 9.2-4: no file of the data directory holds anything that can be redeemed.
#[tokio::test]
async fn nothing_redeemable_is_kept() {
    let desk = Desk::new().await;
    let client = desk.register().await;
    let page = desk.ask(&client, Some(&notes("continuous"))).await;
    let code = desk.code(&client, &notes("continuous")).await;
    let first = desk.redeem(&client, &code, &[]).await.expect("200 ok");
    let second = desk.refresh(&client, &first.text("refresh_token")).await.expect("200 ok");
    let device =
        desk.form("/oauth/device_authorization", &[("client_id", "pdpp_cli")]).await.expect("200 ok");
    let handle = |uri: &str| uri.rsplit(':').next().unwrap().to_owned();
    let user_code = device.text("user_code").replace('-', "");
    let secrets = [
        code,
        handle(&page),
        first.text("access_token"),
        first.text("refresh_token"),
        second.text("access_token"),
        second.text("refresh_token"),
        device.text("device_code"),
        user_code,
        desk.owner.clone(),
        crate::flow::VERIFIER.to_owned(),
    ];
    let mut files = 0;
    for file in
        std::fs::read_dir(desk.directory.path()).unwrap().flatten().filter(|file| file.path().is_file())
    {
        let bytes = std::fs::read(file.path()).unwrap();
        files += 1;
        for secret in &secrets {
            let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!found, "{} holds {secret}", file.path().display());
        }
    }
    assert!(files >= 2, "the store and the ledger were looked at");
}
