//! The link on the terminal: it makes its holder the owner, once.

use pdpp_server::{ConfigFile, Server, owner_subject};

use crate::browser::Browser;
use crate::desk::Desk;

/// Starts the server again and gives the link it would print.
async fn start_again(desk: &mut Desk) -> Option<String> {
    let file = ConfigFile { listen: Some("127.0.0.1:0".parse().unwrap()), ..ConfigFile::default() };
    let server = Server::bind(desk.personal.clone(), file.resolve().unwrap()).await.unwrap();
    desk.router = server.router();
    let prefix = format!("http://{}", server.address());
    server.first_run_link().map(|link| link.strip_prefix(&prefix).unwrap().to_owned())
}

#[tokio::test]
async fn the_link_makes_its_holder_the_owner_once() {
    let mut desk = Desk::new().await;
    let link = start_again(&mut desk).await.unwrap();
    let secret = link.strip_prefix("/owner/first-run?secret=").unwrap();
    assert!(secret.len() >= 32 && secret.bytes().all(|b| b.is_ascii_hexdigit()));
    let browser = Browser::new(&desk);
    let form = browser.get(&link).await.expect(200).form("first-run-form");
    let typed = |first: &str, second: &str| form.clone().set("password", first).set("password_again", second);
    browser.send(&typed("correct horse", "correct house")).await.expect(400);
    browser.send(&typed("short", "short")).await.expect(400);
    browser.send(&typed("correct horse", "correct horse").without("_csrf")).await.expect(403);
    browser.send(&typed("correct horse", "correct horse").set("secret", "0")).await.expect(404);
    assert!(!desk.personal.authority().has_passphrase(&owner_subject()).await.unwrap());
    let done = browser.send(&typed("correct horse", "correct horse")).await.expect(303);
    assert_eq!(done.header("location"), "/owner");
    browser.get("/owner").await.expect(200);
    let other = Browser::new(&desk);
    assert!(other.get(&link).await.expect(404).text("outcome").contains("It was used"));
    other.get("/owner/login").await;
    let sign_in = other.get("/owner/login").await.form("login-form").set("password", "correct horse");
    other.send(&sign_in).await.expect(303);
    assert_eq!(start_again(&mut desk).await, None, "there is an owner");
}

#[tokio::test]
async fn a_link_ends_by_itself_with_the_next_start_and_with_a_reset() {
    let mut desk = Desk::new().await;
    let first = start_again(&mut desk).await.unwrap();
    let second = start_again(&mut desk).await.unwrap();
    Browser::new(&desk).get(&first).await.expect(404);
    Browser::new(&desk).get(&second).await.expect(200);
    desk.clock.advance_seconds(86_400);
    Browser::new(&desk).get(&second).await.expect(404);
    let third = start_again(&mut desk).await.unwrap();
    let passphrase = pdpp_access::Secret::presented("set on the machine");
    desk.personal.authority().reset_owner(&owner_subject(), &passphrase).await.unwrap();
    Browser::new(&desk).get(&third).await.expect(404);
    Browser::new(&desk).get("/owner/first-run").await.expect(404);
}
