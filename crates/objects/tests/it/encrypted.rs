//! TLS: a store is spoken to if its certificate is believed, and not otherwise.

use std::sync::{Arc, Mutex};

use pdpp_objects::{ObjectsError, RootCertStore, Settings};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::liar::{answer, reply, settings_for};
use crate::suite::open;

/// A store on this machine with a certificate that no authority made, and the certificate.
async fn store() -> (String, CertificateDer<'static>) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let certificate = made.cert.der().clone();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("https://localhost:{}", listener.local_addr().unwrap().port());
    tokio::spawn(async move {
        let log = Arc::new(Mutex::new(Vec::new()));
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, log) = (acceptor.clone(), Arc::clone(&log));
            tokio::spawn(async move {
                if let Ok(stream) = acceptor.accept(stream).await {
                    let empty = b"<ListBucketResult></ListBucketResult>";
                    answer(stream, &log, &|_, _| reply("200 OK", "", empty.len(), empty)).await;
                }
            });
        }
    });
    (endpoint, certificate)
}

#[tokio::test]
async fn a_certificate_that_is_believed_opens_the_store() {
    let (endpoint, certificate) = store().await;
    let mut roots = RootCertStore::empty();
    roots.add(certificate).unwrap();
    let settings = Settings { roots: Some(roots), ..Settings::default() };
    let objects = open("s3://archive", &settings_for(endpoint, settings), 1);
    objects.check().await.unwrap();
}

#[tokio::test]
async fn a_certificate_that_nobody_vouches_for_ends_it() {
    let (endpoint, _) = store().await;
    let (_, another) = store().await;
    let mut roots = RootCertStore::empty();
    roots.add(another).unwrap();
    let settings = Settings { roots: Some(roots), ..Settings::default() };
    let objects = open("s3://archive", &settings_for(endpoint, settings), 1);
    assert!(matches!(objects.check().await, Err(ObjectsError::Unreachable(_))));
}
