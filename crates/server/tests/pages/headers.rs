//! What every page says to the browser about itself.

use crate::browser::Browser;
use crate::desk::{Desk, encoded};
use crate::flow::notes;
use crate::html::tags;

/// 9.2-22: a page may do nothing it does not need, and stays nowhere.
#[tokio::test]
async fn every_page_is_guarded_and_readable_without_a_mouse() {
    let desk = Desk::owned().await;
    let (browser, client) = (Browser::signed_in(&desk).await, desk.register().await);
    desk.connect(&notes("continuous")).await;
    let started = desk.form("/oauth/device_authorization", &[("client_id", "pdpp_cli")]).await;
    let device = format!("/device?{}", encoded(&[("user_code", &started.text("user_code"))]));
    let asked = desk.ask(&client, Some(&notes("continuous"))).await;
    let open = desk.ask(&client, None).await;
    let stranger = Browser::new(&desk);
    let pages = [
        (stranger.get("/owner/login").await, "'self'"),
        (browser.get("/owner").await, "'self'"),
        (browser.get("/device").await, "'self'"),
        (browser.get(&device).await, "'self'"),
        (browser.get("/device?user_code=BBBB-BBBB").await, "'self'"),
        (browser.consent(&asked).await, "'self' https://app.test"),
        (browser.consent(&open).await, "'self' https://app.test"),
        (browser.consent("urn:pdpp:pending-consent:x").await, "'self'"),
        (browser.get("/consent").await, "'self'"),
    ];
    for (page, forms) in pages {
        let policy = format!(
            "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'; \
             form-action {forms}"
        );
        assert_eq!(page.header("content-security-policy"), policy, "{}", page.html);
        for (name, value) in [
            ("cache-control", "no-store"),
            ("x-frame-options", "DENY"),
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("content-type", "text/html; charset=utf-8"),
        ] {
            assert_eq!(page.header(name), value, "{name}");
        }
        check_semantics(&page.html);
    }
}

/// One heading of the first rank, landmarks, a language, a label for every control, ids that stand once.
pub(crate) fn check_semantics(html: &str) {
    let all = tags(html);
    let count = |name: &str| all.iter().filter(|tag| tag.name == name).count();
    assert_eq!((count("h1"), count("main"), count("title")), (1, 1, 1), "{html}");
    assert!(all.iter().any(|tag| tag.name == "html" && tag.get("lang") == "en"));
    let mut ids: Vec<_> = all.iter().map(|tag| tag.get("id")).filter(|id| !id.is_empty()).collect();
    let known = ids.clone();
    let before = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), before, "an id stands twice: {html}");
    let labelled: Vec<_> = all.iter().filter(|tag| tag.name == "label").map(|tag| tag.get("for")).collect();
    for input in
        all.iter().filter(|tag| tag.name == "input" && tag.get("type") != "hidden" && !tag.has("hidden"))
    {
        assert!(labelled.contains(&input.get("id")), "{input:?} has no label");
    }
    for name in ["aria-labelledby", "aria-describedby", "form"] {
        for tag in all.iter().filter(|tag| tag.has(name)) {
            assert!(known.contains(&tag.get(name)), "{tag:?} refers to nothing");
        }
    }
    // RFC 9700, 4.2: what stands in an address of ours reaches no other server by a link.
    for tag in &all {
        for leads in ["href", "src", "action", "formaction"].map(|name| tag.get(name)) {
            let own = leads.starts_with('/') && !leads.starts_with("//");
            assert!(own || leads.is_empty() || leads.starts_with('#') || leads == "data:,", "{tag:?}");
        }
    }
    assert!(!html.contains("<script") && !html.contains("style=") && !html.contains(" onclick"), "{html}");
}

#[tokio::test]
async fn the_style_sheet_is_kept_for_ever_under_its_hash() {
    let desk = Desk::owned().await;
    let browser = Browser::new(&desk);
    let page = browser.get("/owner/login").await;
    let link = tags(&page.html).into_iter().find(|tag| tag.name == "link" && tag.get("rel") == "stylesheet");
    let style = browser.get(link.unwrap().get("href")).await.expect(200);
    assert_eq!(style.header("content-type"), "text/css; charset=utf-8");
    assert_eq!(style.header("cache-control"), "public, max-age=31536000, immutable");
    assert_eq!(style.header("set-cookie"), "");
    browser.get("/owner/assets/style-0000000000000000.css").await.expect(404);
    browser.get("/owner/logout").await.expect(405);
}
