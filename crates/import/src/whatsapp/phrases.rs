//! What `WhatsApp` itself writes into chats, in the languages it is known in here: English, German, French, Spanish,
//! Portuguese, Italian, Dutch, Japanese and Arabic.
//!
//! Compared in lower case, without marks and without a full stop at the end. A phrase of another language stays the
//! text of its message: nothing is lost, it is only not told apart.

/// Stands for media that were not exported, from Android, between `<` and `>`.
const OMITTED: [&str; 15] = [
    "media omitted",
    "medien ausgeschlossen",
    "médias omis",
    "multimedia omitido",
    "archivo omitido",
    "mídia oculta",
    "arquivo de mídia oculto",
    "ficheiro não revelado",
    "media omessi",
    "media omesso",
    "media weggelaten",
    "メディアは含まれていません",
    "メディアなし",
    "تم استبعاد الوسائط",
    "video note omitted",
];

/// From iPhones: the words, and the kind of media they stand for.
const OMITTED_KINDS: [(&str, &str); 58] = [
    ("image omitted", "image"),
    ("video omitted", "video"),
    ("audio omitted", "audio"),
    ("gif omitted", "gif"),
    ("sticker omitted", "sticker"),
    ("document omitted", "document"),
    ("contact card omitted", "contact"),
    ("video note omitted", "video_note"),
    ("bild weggelassen", "image"),
    ("video weggelassen", "video"),
    ("audio weggelassen", "audio"),
    ("gif weggelassen", "gif"),
    ("sticker weggelassen", "sticker"),
    ("dokument weggelassen", "document"),
    ("kontaktkarte ausgelassen", "contact"),
    ("videonachricht weggelassen", "video_note"),
    ("image absente", "image"),
    ("vidéo absente", "video"),
    ("audio omis", "audio"),
    ("gif retiré", "gif"),
    ("sticker omis", "sticker"),
    ("document manquant", "document"),
    ("fiche contact manquante", "contact"),
    ("imagen omitida", "image"),
    ("video omitido", "video"),
    ("audio omitido", "audio"),
    ("gif omitido", "gif"),
    ("sticker omitido", "sticker"),
    ("documento omitido", "document"),
    ("tarjeta de contacto omitida", "contact"),
    ("imagem ocultada", "image"),
    ("imagem omitida", "image"),
    ("vídeo omitido", "video"),
    ("áudio ocultado", "audio"),
    ("áudio omitido", "audio"),
    ("figurinha omitida", "sticker"),
    ("cartão do contato omitido", "contact"),
    ("immagine omessa", "image"),
    ("video omesso", "video"),
    ("audio omesso", "audio"),
    ("gif esclusa", "gif"),
    ("sticker non incluso", "sticker"),
    ("documento omesso", "document"),
    ("scheda contatto omessa", "contact"),
    ("afbeelding weggelaten", "image"),
    ("video weggelaten", "video"),
    ("audio weggelaten", "audio"),
    ("gif weggelaten", "gif"),
    ("sticker weggelaten", "sticker"),
    ("document weggelaten", "document"),
    ("contactkaart weggelaten", "contact"),
    ("videobericht weggelaten", "video_note"),
    ("画像は省略されました", "image"),
    ("動画は省略されました", "video"),
    ("音声は省略されました", "audio"),
    ("スタンプは省略されました", "sticker"),
    ("文書は省略されました", "document"),
    ("تم استبعاد الصورة", "image"),
];

/// Behind the name of a file, in brackets, from Android.
const ATTACHED: [&str; 10] = [
    "file attached",
    "datei angehängt",
    "fichier joint",
    "archivo adjunto",
    "arquivo anexado",
    "ficheiro anexado",
    "file allegato",
    "bestand bijgevoegd",
    "添付ファイル",
    "الملف مرفق",
];

/// In front of the name of a file, from iPhones: `<attached: NAME>`.
const ATTACHED_WORDS: [&str; 11] = [
    "attached",
    "anhang",
    "pièce jointe",
    "adjunto",
    "archivo adjunto",
    "anexado",
    "allegato",
    "bijgevoegd",
    "bijlage",
    "添付ファイル",
    "مرفق",
];

const DELETED: [&str; 24] = [
    "this message was deleted",
    "you deleted this message",
    "this message was deleted by admin",
    "diese nachricht wurde gelöscht",
    "du hast diese nachricht gelöscht",
    "ce message a été supprimé",
    "vous avez supprimé ce message",
    "se eliminó este mensaje",
    "eliminaste este mensaje",
    "este mensaje fue eliminado",
    "mensagem apagada",
    "esta mensagem foi apagada",
    "você apagou esta mensagem",
    "esta mensagem foi eliminada",
    "questo messaggio è stato eliminato",
    "hai eliminato questo messaggio",
    "dit bericht is verwijderd",
    "dit bericht werd verwijderd",
    "je hebt dit bericht verwijderd",
    "u hebt dit bericht verwijderd",
    "このメッセージは削除されました",
    "このメッセージを削除しました",
    "تم حذف هذه الرسالة",
    "حذفت هذه الرسالة",
];

/// Behind a text that was changed, between `<` and `>`.
const EDITED: [&str; 11] = [
    "this message was edited",
    "diese nachricht wurde bearbeitet",
    "ce message a été modifié",
    "se editó este mensaje",
    "mensagem editada",
    "esta mensagem foi editada",
    "questo messaggio è stato modificato",
    "dit bericht is bewerkt",
    "dit bericht werd bewerkt",
    "このメッセージは編集されました",
    "تم تعديل هذه الرسالة",
];

/// Begins a poll, with a colon.
const POLL: [&str; 9] =
    ["poll", "umfrage", "sondage", "encuesta", "enquete", "sondaggio", "peiling", "アンケート", "استطلاع رأي"];

/// Begins a choice of a poll, with a colon.
const CHOICE: [&str; 8] = ["option", "choix", "opción", "opção", "opzione", "optie", "選択肢", "خيار"];

const CALLS: [&str; 14] = [
    "missed voice call",
    "missed video call",
    "voice call",
    "video call",
    "verpasster sprachanruf",
    "verpasster videoanruf",
    "appel vocal manqué",
    "appel vidéo manqué",
    "llamada de voz perdida",
    "videollamada perdida",
    "chamada de voz perdida",
    "chiamata vocale persa",
    "gemiste spraakoproep",
    "gemiste video-oproep",
];

/// A phrase as it is compared.
fn folded(text: &str) -> String {
    super::marks::clean(text).trim_end_matches('.').to_lowercase()
}

/// The kind of media that a text of its own stands for.
pub(super) fn omitted_kind(text: &str) -> Option<&'static str> {
    // The longest phrase is short; a long text is none.
    if text.len() > 200 {
        return None;
    }
    let text = folded(text);
    if let Some(inner) = text.strip_prefix('<').and_then(|text| text.strip_suffix('>')) {
        return OMITTED.contains(&inner).then_some("unknown");
    }
    OMITTED_KINDS.iter().find(|(phrase, _)| *phrase == text).map(|(_, kind)| *kind)
}

pub(super) fn is_attached(bracketed: &str) -> bool {
    ATTACHED.contains(&folded(bracketed).as_str())
}

pub(super) fn is_attached_word(word: &str) -> bool {
    ATTACHED_WORDS.contains(&folded(word).as_str())
}

pub(super) fn is_deleted(text: &str) -> bool {
    if text.len() > 200 {
        return false;
    }
    let text = folded(text);
    // An admin is named behind the phrase.
    DELETED.contains(&text.as_str()) || text.starts_with("this message was deleted by admin ")
}

pub(super) fn is_edited(inner: &str) -> bool {
    EDITED.contains(&folded(inner).as_str())
}

pub(super) fn is_poll(word: &str) -> bool {
    POLL.contains(&folded(word).as_str())
}

pub(super) fn is_choice(word: &str) -> bool {
    CHOICE.contains(&folded(word).as_str())
}

pub(super) fn is_call(text: &str) -> bool {
    let text: String = folded(text).chars().take(80).collect();
    CALLS
        .iter()
        .any(|phrase| text.strip_prefix(phrase).is_some_and(|rest| !rest.starts_with(char::is_alphabetic)))
}
