//! This machine, for development: with the real resolver and real connections.

use std::sync::Arc;

use pdpp_egress::{
    Egress, EgressFault, EgressUrl, Literals, Loopback, Settings, SystemResolver, TcpTls, UrlPolicy,
};

use crate::site::{Act, Site};
use crate::world::{Plan, second};

const DEVELOPMENT: UrlPolicy = UrlPolicy { loopback: Loopback::Allowed, literals: Literals::Refused };

#[tokio::test]
async fn this_machine_is_called_over_plain_http() {
    let site = Site::plain(|_| Act::ok("hello")).await;
    let settings = Settings { policy: DEVELOPMENT, ..Settings::default() };
    let egress =
        Egress::new(settings, Arc::new(SystemResolver::default()), Arc::new(TcpTls::with_native_roots()));
    for host in ["127.0.0.1", "localhost"] {
        let text = format!("http://{host}:{}/hook", site.address.port());
        let url = EgressUrl::parse(&text, egress.policy()).unwrap();
        let answer = egress.get(&url, &second()).await.unwrap();
        assert_eq!(answer.body, "hello", "{text}");
    }
    assert_eq!(site.connections(), 2);
}

#[tokio::test]
async fn a_localhost_that_points_elsewhere_is_refused() {
    for answer in ["10.0.0.1", "93.184.215.14", "::ffff:10.0.0.1"] {
        let world = Plan::nowhere().under(DEVELOPMENT).answering(&[&["127.0.0.1", answer]]).make();
        let url = EgressUrl::parse("http://localhost:8080/", DEVELOPMENT).unwrap();
        let error = world.egress.get(&url, &second()).await.unwrap_err();
        assert_eq!(error.fault(), EgressFault::ForbiddenAddress, "{answer}");
        assert_eq!(world.dialled().len(), 0);
    }
}

#[tokio::test]
async fn development_lets_no_other_host_into_this_machine() {
    let world = Plan::nowhere().under(DEVELOPMENT).answering(&[&["127.0.0.1"]]).make();
    assert_eq!(world.get().await, Err(EgressFault::ForbiddenAddress));
    assert_eq!(world.dialled().len(), 0);
}

#[tokio::test]
async fn a_name_that_cannot_exist_has_no_address() {
    // A label of more than 63 bytes is refused before any packet is sent.
    use pdpp_egress::Resolver as _;
    let name = format!("{}.invalid", "a".repeat(64));
    assert!(SystemResolver::default().resolve(&name).await.is_err());
}
