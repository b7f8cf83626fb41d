//! Letters of the shape that providers deliver: signed and stamped on the way, in two renderings, some with a file.

use std::fmt::Write as _;

use crate::samples::words;

/// Every so many letters one has a file.
const WITH_FILE: usize = 12;
/// Lines of Base64 in it, 57 bytes each: about 200 kB.
const FILE_LINES: usize = 3_600;

/// One letter of a mailbox, 28 kB on average.
pub(crate) fn letter(number: usize) -> String {
    let mut text = String::with_capacity(8_000);
    let said = (0..12).map(|line| words(number + line)).collect::<Vec<_>>().join("\r\n");
    write!(
        text,
        "From 17{number:08}@xxx Mon Jan  5 10:00:00 +0000 2026\r\nX-GM-THRID: 17{:08}\r\n\
         X-Gmail-Labels: Inbox,Harbour\r\n{}From: Ana <ana@harbour.example>\r\nTo: Ben <ben@harbour.example>\r\n\
         Subject: {}\r\nDate: Mon, 5 Jan 2026 10:00:00 +0000\r\nMessage-ID: <{number}@harbour.example>\r\n\
         In-Reply-To: <{}@harbour.example>\r\nMIME-Version: 1.0\r\n\
         Content-Type: multipart/mixed; boundary=\"out\"\r\n\r\n--out\r\n\
         Content-Type: multipart/alternative; boundary=\"in\"\r\n\r\n--in\r\n\
         Content-Type: text/plain; charset=utf-8\r\n\r\n{said}\r\n--in\r\n\
         Content-Type: text/html; charset=utf-8\r\n\r\n<html><body><p>{said}</p></body></html>\r\n--in--\r\n",
        number / 5,
        trace(number),
        words(number / 5),
        number / 5 * 5,
    )
    .unwrap();
    if number.is_multiple_of(WITH_FILE) {
        write!(
            text,
            "--out\r\nContent-Type: image/jpeg; name=\"quay-{number}.jpg\"\r\n\
             Content-Disposition: attachment; filename=\"quay-{number}.jpg\"\r\n\
             Content-Transfer-Encoding: base64\r\n\r\n"
        )
        .unwrap();
        for line in 0..FILE_LINES {
            // 76 characters; the numbers make each file another one.
            writeln!(text, "{number:032}{line:044}\r").unwrap();
        }
    }
    text.push_str("--out--\r\n\r\n");
    text
}

/// What the machines on the way write on top.
fn trace(number: usize) -> String {
    let mut trace = String::with_capacity(2_500);
    for hop in 0..4 {
        write!(
            trace,
            "Received: from relay{hop}.harbour.example (relay{hop}.harbour.example. [192.0.2.{hop}])\r\n        \
             by mx.quay.example with ESMTPS id {number:024}\r\n        \
             for <ben@harbour.example>; Mon, 05 Jan 2026 02:00:0{hop} -0800 (PST)\r\n"
        )
        .unwrap();
    }
    for name in ["DKIM-Signature", "ARC-Message-Signature", "ARC-Seal"] {
        write!(
            trace,
            "{name}: v=1; a=rsa-sha256; c=relaxed/relaxed; d=harbour.example; s=quay;\r\n        \
             h=from:to:subject:date:message-id; bh={number:044};\r\n        b={number:076}\r\n         \
             {number:076}\r\n         {number:076}\r\n         {number:076}\r\n"
        )
        .unwrap();
    }
    trace
}
