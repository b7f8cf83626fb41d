//! Every format this program reads, in the order they are asked: the particular before the general.

use crate::Format;
use crate::calendar::Ics;
use crate::chatgpt::ChatGpt;
use crate::claude::Claude;
use crate::contacts::Vcf;
use crate::google::Takeout;
use crate::mail::Mail;
use crate::mastodon::Mastodon;
use crate::notes::NoteFolder;
use crate::own_export::OwnExport;
use crate::slack::Slack;
use crate::table::{Csv, Json, JsonLines};
use crate::telegram::Telegram;
use crate::whatsapp::WhatsApp;
use crate::x::X;

/// All formats. A general one (any JSON, any table) comes last, so that it never takes what another knows better.
pub fn formats() -> &'static [&'static dyn Format] {
    &[
        &OwnExport,
        &Slack,
        &Telegram,
        &WhatsApp,
        &ChatGpt,
        &Claude,
        &Takeout,
        &Mastodon,
        &X,
        &Mail,
        &Ics,
        &Vcf,
        &NoteFolder,
        &JsonLines,
        &Json,
        &Csv,
    ]
}
