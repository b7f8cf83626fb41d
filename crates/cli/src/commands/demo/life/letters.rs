//! Mail, as one mailbox file.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::ToSpan as _;
use jiff::civil::DateTime;

use super::orders::Order;
use super::planted::{self, Planted};
use super::random::Random;
use super::words::{Piece, Words, blocks};
use super::{File, paper};

const LETTERS: &str = include_str!("letters.txt");
const ME: &str = "Mira Castell <mira@castell.example>";
/// How many conversations by mail there are, orders, statements and planted ones apart.
const CONVERSATIONS: usize = 270;

struct Letter {
    at: DateTime,
    id: String,
    answers: Option<String>,
    from: String,
    to: String,
    subject: String,
    list: Option<String>,
    label: &'static str,
    text: String,
    attachment: Option<(String, Vec<u8>)>,
}

/// The whole mailbox.
pub(super) fn write(words: &Words, random: &mut Random, orders: &[Order]) -> File {
    let templates = blocks(LETTERS);
    let of = |kind: &str| -> Vec<&str> {
        templates.iter().filter(|(head, _)| *head == kind).map(|(_, body)| *body).collect()
    };
    let usual: Vec<&str> = of("letter").into_iter().chain(of("news")).collect();
    let mut letters = Vec::new();
    for _ in 0..CONVERSATIONS {
        let (template, at) = (*random.pick(&usual), super::moment(random, 7, 20));
        letters.extend(thread(&mut words.piece(), random, template, at));
    }
    for order in orders {
        let mut piece = words.piece();
        order.describe(&mut piece);
        letters.extend(thread(&mut piece, random, of("shop")[0], order.at));
    }
    for month in 0..super::MONTHS {
        let at =
            super::first_day().saturating_add(month.months()).to_datetime(jiff::civil::time(6, 30, 0, 0));
        let mut piece = words.piece();
        piece.put("month_name", at.saturating_sub(1.month()).strftime("%B %Y").to_string());
        letters.extend(thread(&mut piece, random, of("bank")[0], at));
    }
    letters.extend(planted::LETTERS.iter().map(kept));
    letters.sort_by(|a, b| (a.at, &a.id).cmp(&(b.at, &b.id)));
    let mut mailbox = String::new();
    for letter in &letters {
        letter.write(&mut mailbox);
    }
    File::new("Mail/All mail.mbox", mailbox.into_bytes())
}

/// A template with its answers, each some hours after the one before.
fn thread(piece: &mut Piece<'_>, random: &mut Random, template: &str, mut at: DateTime) -> Vec<Letter> {
    let mut letters: Vec<Letter> = Vec::new();
    for part in template.split("\n---\n") {
        let (headers, text): (Vec<&str>, Vec<&str>) = part.lines().partition(|line| line.starts_with("> "));
        let mut header = |name: &str| {
            let found = headers.iter().find_map(|line| line[2..].strip_prefix(name)?.strip_prefix(": "));
            found.map(|value| piece.fill(value, random))
        };
        let (from, subject, list) = (header("from"), header("subject"), header("list"));
        let from = from.filter(|from| from != "me").unwrap_or_else(|| ME.to_owned());
        let mine = from == ME;
        let other = letters.iter().map(|earlier| earlier.from.clone()).find(|from| from != ME);
        let to = if mine {
            other.unwrap_or_else(|| "office@groundwork.example".to_owned())
        } else {
            ME.to_owned()
        };
        letters.push(Letter {
            at,
            id: message_id(random, &from),
            answers: letters.last().map(|earlier| earlier.id.clone()),
            from,
            to,
            subject: subject.unwrap_or_default(),
            label: if mine {
                "Sent"
            } else if list.is_some() {
                "Newsletters"
            } else {
                "Inbox"
            },
            list,
            text: piece.fill(text.join("\n").trim(), random),
            attachment: None,
        });
        at = at.saturating_add(random.between(1_800, 90_000).seconds());
    }
    letters
}

fn kept(planted: &Planted) -> Letter {
    let mine = planted.from == "me";
    Letter {
        at: super::at(planted.at),
        id: planted.id.to_owned(),
        answers: planted.answers.map(str::to_owned),
        from: if mine { ME } else { planted.from }.to_owned(),
        to: if mine { planted.to } else { ME }.to_owned(),
        subject: planted.subject.to_owned(),
        list: None,
        label: if mine { "Sent" } else { "Inbox" },
        text: planted.text.trim().to_owned(),
        attachment: planted.paper.map(|(name, lines)| (name.to_owned(), paper::write(lines))),
    }
}

fn message_id(random: &mut Random, from: &str) -> String {
    let domain = from.rsplit_once('@').map_or("castell.example", |(_, domain)| domain.trim_end_matches('>'));
    format!("{:08x}@{domain}", random.between(0, 0xFFFF_FFFF))
}

impl Letter {
    fn write(&self, mailbox: &mut String) {
        let Self { at, id, from, to, subject, label, .. } = self;
        let stamp = at.strftime("%a, %d %b %Y %H:%M:%S +0000");
        // Writing to a string does not fail.
        let _ = write!(
            mailbox,
            "From - {}\nMessage-ID: <{id}>\nDate: {stamp}\nFrom: {from}\nTo: {to}\nSubject: {subject}\nX-Gmail-Labels: {label}\n",
            at.strftime("%a %b %d %H:%M:%S %Y"),
        );
        if let Some(answers) = &self.answers {
            let _ = write!(mailbox, "In-Reply-To: <{answers}>\nReferences: <{answers}>\n");
        }
        if let Some(list) = &self.list {
            let _ = writeln!(mailbox, "List-Id: <{list}>");
        }
        mailbox.push_str("MIME-Version: 1.0\n");
        let text = self.text.replace("\nFrom ", "\n>From ");
        let plain = "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n";
        match &self.attachment {
            None => {
                let _ = write!(mailbox, "{plain}\n{text}\n\n");
            }
            Some((name, bytes)) => {
                let _ = write!(
                    mailbox,
                    "Content-Type: multipart/mixed; boundary=\"=-part\"\n\n--=-part\n{plain}\n{text}\n\n--=-part\n\
                     Content-Type: application/pdf; name=\"{name}\"\nContent-Disposition: attachment; filename=\"{name}\"\n\
                     Content-Transfer-Encoding: base64\n\n{}\n--=-part--\n\n",
                    base64_lines(bytes),
                );
            }
        }
    }
}

/// Bytes as mail carries them, 76 letters a line.
fn base64_lines(bytes: &[u8]) -> String {
    let whole = STANDARD.encode(bytes);
    let lines: Vec<&str> =
        whole.as_bytes().chunks(76).filter_map(|line| std::str::from_utf8(line).ok()).collect();
    lines.join("\n")
}
