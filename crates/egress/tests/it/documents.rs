//! Client ID metadata documents: fetched once, kept as long as they may be, never when they are not in order.

use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::join_all;
use pdpp_access::Clock as _;
use pdpp_egress::metadata_document::{
    ClientIdUrl, ContentFault, DocumentError, MAX_DOCUMENT_BYTES, MetadataDocuments,
};
use pdpp_egress::{EgressFault, UrlFault, UrlPolicy};
use pdpp_testkit::FixedClock;

use crate::site::{Act, Site};
use crate::world::{HOST, Plan, World};

const CLIENT: &str = "https://hooks.example.org/client.json";

struct Shelf {
    documents: MetadataDocuments,
    clock: Arc<FixedClock>,
    world: World,
}

impl Shelf {
    fn over(plan: Plan) -> Self {
        let (world, clock) = (plan.make(), Arc::new(FixedClock::default()));
        let documents = MetadataDocuments::new(Arc::clone(&world.egress), Arc::clone(&clock) as _);
        Self { documents, clock, world }
    }

    async fn get(&self) -> Result<serde_json::Value, DocumentError> {
        let document = self.documents.get(&client(CLIENT)).await?;
        Ok(serde_json::Value::Object(document.content.members().clone()))
    }
}

fn client(client_id: &str) -> ClientIdUrl {
    ClientIdUrl::parse(client_id, UrlPolicy::default()).unwrap()
}

fn document(headers: &str, members: &str) -> Act {
    let headers = format!("content-type: application/json\r\n{headers}");
    Act::answer("200 OK", &headers, &format!(r#"{{"client_id":"{CLIENT}"{members}}}"#))
}

async fn refused(script: impl Fn(usize) -> Act + Send + Sync + 'static) -> DocumentError {
    let site = Site::start(HOST, script).await;
    let shelf = Shelf::over(Plan::to(&site));
    let error = shelf.get().await.unwrap_err();
    assert_eq!(shelf.get().await.as_ref(), Err(&error));
    assert_eq!(site.connections(), 2, "what is not in order is not kept");
    error
}

#[tokio::test]
async fn a_document_is_fetched_once_and_kept_as_long_as_it_says() {
    let site = Site::start(HOST, |number| {
        document("cache-control: max-age=600\r\n", &format!(r#","client_name":"version {number}""#))
    })
    .await;
    let shelf = Shelf::over(Plan::to(&site));
    assert_eq!(shelf.get().await.unwrap()["client_name"], "version 0");
    shelf.clock.advance_seconds(599);
    assert_eq!(shelf.get().await.unwrap()["client_name"], "version 0");
    shelf.clock.advance_seconds(1);
    assert_eq!(shelf.get().await.unwrap()["client_name"], "version 1");
    assert_eq!(site.connections(), 2);
    let kept = shelf.documents.get(&client(CLIENT)).await.unwrap();
    assert_eq!(kept.fetched_at, shelf.clock.now());
    assert_eq!(kept.fresh_until, shelf.clock.now().plus_seconds(600));
}

#[tokio::test]
async fn a_document_that_must_not_be_kept_is_kept_for_a_minute() {
    let site = Site::start(HOST, |_| document("cache-control: no-store\r\n", "")).await;
    let shelf = Shelf::over(Plan::to(&site));
    shelf.get().await.unwrap();
    shelf.clock.advance_seconds(59);
    shelf.get().await.unwrap();
    assert_eq!(site.connections(), 1);
    shelf.clock.advance_seconds(1);
    shelf.get().await.unwrap();
    assert_eq!(site.connections(), 2);
}

#[tokio::test]
async fn those_who_ask_at_the_same_time_wait_for_one_fetch() {
    let site = Site::start(HOST, |_| document("", "")).await;
    let shelf = Shelf::over(Plan::to(&site));
    let asked = (0..20).map(|_| shelf.get());
    let answers = join_all(asked).await;
    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    assert_eq!((site.connections(), shelf.world.lookups()), (1, 1));
}

#[tokio::test]
async fn those_who_ask_at_the_same_time_share_a_failure() {
    let site = Site::start(HOST, |_| Act::answer("500 Oops", "", "")).await;
    let shelf = Shelf::over(Plan::to(&site));
    let answers = join_all((0..20).map(|_| shelf.get())).await;
    assert!(answers.iter().all(|answer| *answer == Err(DocumentError::Status { status: 500 })));
    assert_eq!(site.connections(), 1);
}

#[tokio::test]
async fn a_fetch_that_nobody_waits_for_is_begun_anew() {
    let site = Site::start(HOST, |number| if number == 0 { Act::Hang } else { document("", "") }).await;
    let shelf = Shelf::over(Plan::to(&site));
    tokio::select! {
        outcome = shelf.get() => panic!("{outcome:?}"),
        () = site.requested() => {}
    }
    assert!(shelf.get().await.is_ok());
    assert_eq!(site.connections(), 2);
}

#[tokio::test]
async fn so_many_fetches_at_one_time_and_no_more() {
    let shelf = Shelf::over(Plan::nowhere());
    let ids: Vec<_> = (0..17).map(|n| client(&format!("https://hooks.example.org/{n}"))).collect();
    let mut waiting: Vec<_> = ids.iter().map(|id| Box::pin(shelf.documents.get(id))).collect();
    for fetch in &mut waiting[..16] {
        assert_eq!(fetch.as_mut().now_or_never(), None);
    }
    assert_eq!(waiting[16].as_mut().now_or_never(), Some(Err(DocumentError::Busy)));
    waiting.truncate(15);
    assert_eq!(shelf.documents.get(&ids[16]).now_or_never(), None);
}

#[tokio::test]
async fn a_document_of_five_kibibytes_is_taken_and_one_byte_more_is_not() {
    let sized = |bytes: usize| {
        let empty = format!(r#"{{"client_id":"{CLIENT}","a":""}}"#).len();
        let filler = format!(r#","a":"{}""#, "x".repeat(bytes - empty));
        move |_| document("", &filler)
    };
    let site = Site::start(HOST, sized(MAX_DOCUMENT_BYTES)).await;
    assert!(Shelf::over(Plan::to(&site)).get().await.is_ok());
    let DocumentError::Fetch(error) = refused(sized(MAX_DOCUMENT_BYTES + 1)).await else { panic!() };
    assert_eq!(error.fault(), EgressFault::BodyTooLarge { max_bytes: 5_120 });
}

#[tokio::test]
async fn a_redirect_is_not_a_document() {
    let error = refused(|_| {
        let headers = "content-type: application/json\r\nlocation: https://hooks.example.org/other\r\n";
        Act::answer("302 Found", headers, &format!(r#"{{"client_id":"{CLIENT}"}}"#))
    });
    assert_eq!(error.await, DocumentError::Status { status: 302 });
}

#[tokio::test]
async fn a_document_about_another_client_is_refused() {
    let error = refused(|_| {
        let body = r#"{"client_id":"https://hooks.example.org/other.json"}"#;
        Act::answer("200 OK", "content-type: application/json\r\n", body)
    });
    assert_eq!(error.await, DocumentError::Content(ContentFault::ClientId));
}

#[tokio::test]
async fn a_document_in_the_owners_network_is_refused_and_its_address_is_not_told() {
    let shelf = Shelf::over(Plan::nowhere().answering(&[&["192.168.7.7"]]));
    let error = shelf.get().await.unwrap_err();
    assert!(!format!("{error} {error:?}").contains("192.168"), "{error:?}");
    assert!(error.internal().contains("192.168.7.7"), "{}", error.internal());
    assert_eq!(shelf.world.dialled().len(), 0);
}

#[tokio::test]
async fn an_old_document_is_not_used_in_place_of_one_that_cannot_be_fetched() {
    let site =
        Site::start(
            HOST,
            |number| {
                if number == 1 { Act::answer("404 Not Found", "", "") } else { document("", "") }
            },
        )
        .await;
    let shelf = Shelf::over(Plan::to(&site));
    assert!(shelf.get().await.is_ok());
    shelf.clock.advance_seconds(60);
    assert_eq!(shelf.get().await, Err(DocumentError::Status { status: 404 }));
    assert!(shelf.get().await.is_ok());
}

#[tokio::test]
async fn a_change_is_seen_in_the_hashes() {
    let site = Site::start(HOST, |number| {
        document("", &format!(r#","redirect_uris":["https://hooks.example.org/{}"]"#, number / 2))
    })
    .await;
    let shelf = Shelf::over(Plan::to(&site));
    let mut hashes = Vec::new();
    for _ in 0..3 {
        let content = shelf.documents.get(&client(CLIENT)).await.unwrap().content.clone();
        hashes.push((content.sha256().to_owned(), content.trust_sha256().to_owned()));
        shelf.clock.advance_seconds(60);
    }
    assert_eq!(hashes[0], hashes[1]);
    assert!(hashes[1].0 != hashes[2].0 && hashes[1].1 != hashes[2].1);
}

#[tokio::test]
async fn an_identifier_read_under_looser_settings_is_refused() {
    let loose = UrlPolicy { loopback: pdpp_egress::Loopback::Allowed, ..UrlPolicy::default() };
    let shelf = Shelf::over(Plan::nowhere());
    let id = ClientIdUrl::parse("http://localhost/client", loose).unwrap();
    let DocumentError::Fetch(error) = shelf.documents.get(&id).await.unwrap_err() else { panic!() };
    assert_eq!(error.fault(), EgressFault::Url(UrlFault::Loopback));
}
