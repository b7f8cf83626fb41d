//! Stores that lie, fail, hang and hang up: each has its error, and none of them is believed.

use std::time::{Duration, Instant};

use bytes::Bytes;
use pdpp_objects::{Damage, ObjectsError, Settings, Stored, Verify};
use pdpp_wire::BlobId;
use tokio::io::AsyncWriteExt as _;

use crate::liar::{Reply, Request, liar, liar_with, ok, reply, settings_for};
use crate::suite::{bytes, collect, open, read_all, subject};

const SIZE: usize = 1000;

/// An object of [`SIZE`] bytes that was stored once.
fn remembered() -> Stored {
    use sha2::Digest as _;
    let digest: [u8; 32] = sha2::Sha256::digest(bytes(SIZE)).into();
    let digest = BlobId::of_sha256(&digest);
    let digest = digest.sha256_hex();
    let name = format!("ana/{}/{digest}.{}", &digest[..2], "0f".repeat(16));
    Stored { name: pdpp_objects::ObjectName::parse(&name).unwrap(), size_bytes: SIZE as u64 }
}

fn damage<T: std::fmt::Debug>(result: Result<T, ObjectsError>) -> Damage {
    match result {
        Err(ObjectsError::Damaged { damage, .. }) => damage,
        other => panic!("{other:?}"),
    }
}

/// What becomes of an upload to a store that takes it and then shows something else.
async fn upload_then_shown(shows: impl Fn() -> Reply + Send + Sync + 'static) -> (Damage, bool) {
    let liar =
        liar(move |request: &Request, _| if request.method == "GET" { shows() } else { ok(b"") }).await;
    let mut upload = liar.objects.start().await.unwrap();
    upload.write(bytes(SIZE)).await.unwrap();
    let damage = damage(upload.finish(subject("ana")).await);
    (damage, liar.count("DELETE") == 1)
}

#[tokio::test]
async fn an_upload_of_which_the_store_shows_something_else_is_not_stored() {
    let mut other = bytes(SIZE).to_vec();
    other[500] ^= 1;
    assert_eq!(upload_then_shown(move || ok(&other)).await, (Damage::Content, true));
    let short = Damage::Short { expected: 1000, found: 999 };
    assert_eq!(upload_then_shown(|| ok(&bytes(SIZE)[..999])).await, (short, true));
    let long = Damage::Long { expected: 1000, found: 1001 };
    assert_eq!(upload_then_shown(|| ok(&[&bytes(SIZE)[..], b"x"].concat())).await, (long, true));
}

#[tokio::test]
async fn a_store_that_lies_about_the_length_is_found_by_asking() {
    let settings = Settings { verify: Verify::Length, ..Settings::default() };
    let liar =
        liar_with(
            settings,
            |request, _| {
                if request.method == "HEAD" { reply("200 OK", "", 7, b"") } else { ok(b"") }
            },
        );
    let liar = liar.await;
    let mut upload = liar.objects.start().await.unwrap();
    upload.write(bytes(SIZE)).await.unwrap();
    let found = damage(upload.finish(subject("ana")).await);
    assert_eq!(found, Damage::Short { expected: 1000, found: 7 });
}

#[tokio::test]
async fn every_upload_carries_its_checksum_and_a_store_that_refuses_it_is_heard() {
    let refusing = liar(|request: &Request, _| match request.method.as_str() {
        "PUT" => reply("400 Bad Request", "", 4, b"no\r\n"),
        _ => ok(b""),
    });
    let refusing = refusing.await;
    let mut upload = refusing.objects.start().await.unwrap();
    upload.write(Bytes::from_static(b"abc")).await.unwrap();
    let refused = upload.finish(subject("ana")).await;
    assert!(matches!(refused, Err(ObjectsError::Unwritable(_))), "{refused:?}");
    let requests = refusing.requests.lock().unwrap();
    assert_eq!(requests.len(), 1, "what is refused is not sent again");
    assert_eq!(requests[0].body, b"abc");
    // The SHA-256 of `abc` in base64.
    let checksum = requests[0].header("x-amz-checksum-sha256");
    assert_eq!(checksum, Some("ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="));
    assert!(requests[0].head.starts_with("PUT /archive/some/prefix/ana/ba/ba7816bf"), "{}", requests[0].head);
}

#[tokio::test]
async fn a_full_store_does_not_take_bytes() {
    let full = liar(|_, _| reply("507 Insufficient Storage", "", 0, b"")).await;
    let mut upload = full.objects.start().await.unwrap();
    upload.write(bytes(10)).await.unwrap();
    assert!(matches!(upload.finish(subject("ana")).await, Err(ObjectsError::Unwritable(_))));
    assert!(matches!(full.objects.check_writable().await, Err(ObjectsError::Unreachable(_))));
}

/// Half of what is asked for, under the length of all of it.
fn half(request: &Request) -> Reply {
    let content = bytes(SIZE);
    let Some(range) = request.header("range") else { return reply("200 OK", "", SIZE, &content[..SIZE / 2]) };
    let from: usize = range.trim_start_matches("bytes=").split('-').next().unwrap().parse().unwrap();
    let (rest, line) = (&content[from..], format!("Content-Range: bytes {from}-999/1000\r\n"));
    reply("206 Partial Content", &line, rest.len(), &rest[..rest.len() / 2])
}

#[tokio::test]
async fn bodies_that_always_end_early_are_given_up() {
    let cut = liar(|request, _| half(request)).await;
    let result = read_all(&cut.objects, &remembered()).await;
    assert!(matches!(result, Err(ObjectsError::Unreachable(_))), "{result:?}");
    assert_eq!(cut.count("GET"), 4);
}

#[tokio::test]
async fn a_rest_that_starts_from_the_beginning_is_not_taken_for_it() {
    let cut = liar(|_, _| reply("200 OK", "", SIZE, &bytes(SIZE)[..600])).await;
    let found = damage(read_all(&cut.objects, &remembered()).await);
    assert!(matches!(found, Damage::Nonsense(_)), "{found:?}");
}

#[tokio::test]
async fn a_connection_that_is_cut_once_is_taken_up_where_it_was_cut() {
    let cut = liar(|request: &Request, before| {
        if before == 0 {
            return reply("200 OK", "", SIZE, &bytes(SIZE)[..600]);
        }
        assert_eq!(request.header("range"), Some("bytes=600-999"));
        reply("206 Partial Content", "Content-Range: bytes 600-999/1000\r\n", 400, &bytes(SIZE)[600..])
    });
    let cut = cut.await;
    assert_eq!(read_all(&cut.objects, &remembered()).await.unwrap(), bytes(SIZE));
    assert_eq!(cut.count("GET"), 2);
}

#[tokio::test]
async fn a_store_that_only_fails_is_asked_four_times() {
    let failing = liar(|_, _| reply("503 Slow Down", "", 0, b"")).await;
    let result = read_all(&failing.objects, &remembered()).await;
    assert!(matches!(result, Err(ObjectsError::Unreachable(_))), "{result:?}");
    assert_eq!(failing.count("GET"), 4);
    assert!(matches!(failing.objects.check().await, Err(ObjectsError::Unreachable(_))));
}

#[tokio::test]
async fn a_store_that_hangs_is_given_up_in_time() {
    let started = Instant::now();
    let silent = liar(|_, _| Reply { bytes: Vec::new(), hangs: true }).await;
    let result = read_all(&silent.objects, &remembered()).await;
    assert!(matches!(result, Err(ObjectsError::Unreachable(_))), "{result:?}");
    let halting = liar(|request, _| Reply { hangs: true, ..half(request) }).await;
    let result = read_all(&halting.objects, &remembered()).await;
    assert!(matches!(result, Err(ObjectsError::Unreachable(_))), "{result:?}");
    let mut upload = silent.objects.start().await.unwrap();
    upload.write(bytes(10)).await.unwrap();
    let result = upload.finish(subject("ana")).await;
    assert!(matches!(result, Err(ObjectsError::Unreachable(_))), "{result:?}");
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
}

/// A list that comes letter by letter is not waited for, however often a letter comes.
#[tokio::test]
async fn a_list_that_trickles_is_given_up_in_time() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let head = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n";
                let mut sent = stream.write_all(head).await;
                while sent.is_ok() {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    sent = stream.write_all(b" ").await;
                }
            });
        }
    });
    let objects = open("s3://archive", &settings_for(endpoint, Settings::default()), 1);
    let started = Instant::now();
    assert!(matches!(objects.check().await, Err(ObjectsError::Unreachable(_))));
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}

#[tokio::test]
async fn a_store_that_knows_no_ranges_or_gives_another_is_not_believed() {
    let whole = liar(|_, _| ok(&bytes(SIZE))).await;
    let found = damage(collect(&whole.objects, &remembered(), 5..10).await);
    assert!(matches!(found, Damage::Nonsense(_)), "{found:?}");
    let other =
        liar(|_, _| reply("206 Partial Content", "Content-Range: bytes 6-10/1000\r\n", 5, b"abcde")).await;
    let found = damage(collect(&other.objects, &remembered(), 5..10).await);
    assert!(matches!(found, Damage::Nonsense(_)), "{found:?}");
    let less =
        liar(|_, _| reply("206 Partial Content", "Content-Range: bytes 5-9/1000\r\n", 3, b"abc")).await;
    let found = damage(collect(&less.objects, &remembered(), 5..10).await);
    assert_eq!(found, Damage::Short { expected: 5, found: 3 });
    let sizes =
        liar(|_, _| reply("206 Partial Content", "Content-Range: bytes 5-9/2000\r\n", 5, b"abcde")).await;
    let found = damage(collect(&sizes.objects, &remembered(), 5..10).await);
    assert_eq!(found, Damage::Long { expected: 1000, found: 2000 });
}

#[tokio::test]
async fn refusals_are_told_apart_from_absence() {
    for (status, body) in [
        ("403 Forbidden", ""),
        ("401 Unauthorized", ""),
        ("307 Temporary Redirect", ""),
        ("404 Not Found", "<Error><Code>NoSuchBucket</Code></Error>"),
    ] {
        let refusing =
            liar(move |_, _| reply(status, "Location: http://127.0.0.1:1/\r\n", body.len(), body.as_bytes()));
        let refusing = refusing.await;
        let result = read_all(&refusing.objects, &remembered()).await;
        assert!(matches!(result, Err(ObjectsError::Denied(_))), "{status}: {result:?}");
        assert_eq!(refusing.count("GET"), 1, "{status}");
    }
    let empty = liar(|_, _| reply("404 Not Found", "", 0, b"")).await;
    let result = read_all(&empty.objects, &remembered()).await;
    assert!(matches!(result, Err(ObjectsError::Missing { .. })), "{result:?}");
}

#[tokio::test]
async fn an_answer_that_is_none_is_nonsense() {
    let chatty = liar(|_, _| ok(b"<html>welcome</html>")).await;
    let listed = chatty.objects.sweep_staging(crate::suite::tomorrow(), crate::suite::DAY).await;
    assert!(matches!(listed, Err(ObjectsError::Damaged { damage: Damage::Nonsense(_), .. })), "{listed:?}");
    let garbage = liar(|_, _| Reply { bytes: b"SSH-2.0-OpenSSH\r\n".to_vec(), hangs: false }).await;
    let result = read_all(&garbage.objects, &remembered()).await;
    assert!(matches!(result, Err(ObjectsError::Unreachable(_))), "{result:?}");
}
