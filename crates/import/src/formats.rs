//! Every format this program reads, in the order they are asked: the particular before the general.

use crate::Format;
use crate::chatgpt::ChatGpt;
use crate::claude::Claude;
use crate::notes::NoteFolder;
use crate::own_export::OwnExport;
use crate::slack::Slack;
use crate::telegram::Telegram;
use crate::whatsapp::WhatsApp;

/// All formats. A general one (any JSON, any table) comes last, so that it never takes what another knows better.
pub fn formats() -> &'static [&'static dyn Format] {
    &[&OwnExport, &Slack, &Telegram, &WhatsApp, &ChatGpt, &Claude, &NoteFolder]
}
