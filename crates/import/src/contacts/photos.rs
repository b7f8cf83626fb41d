//! Pictures, logos and sounds of contacts: inside the card, beside it, or only linked.

use serde_json::{Map, Value};

use crate::content_lines::{Component, Property, decode_base64};
use crate::{Attachment, Complaint, Draft, Sink, Stop, Tree, file_name, mint_key};

/// What the pictures of a card became.
#[derive(Debug, Default)]
pub(super) struct Photos {
    pub(super) drafts: Vec<Draft>,
    /// Whether the bytes of a portrait were among them.
    pub(super) kept: bool,
    pub(super) count: usize,
}

/// A picture that lies beside the card's file.
#[derive(Debug)]
pub(super) struct Loose {
    pub(super) entry: usize,
    /// Its record so far.
    pub(super) photo: Map<String, Value>,
}

impl Photos {
    /// The record of the portrait that is only linked, to be completed with its bytes; a new one if there is none.
    pub(super) fn take_link(&mut self, contact: &str, data: &Map<String, Value>) -> Map<String, Value> {
        match self.drafts.iter().position(|draft| draft.data.get("kind").is_some_and(|kind| kind == "photo"))
        {
            Some(place) => self.drafts.remove(place).data,
            None => photo(&photo_key(contact, self.count + 1), contact, "photo", data),
        }
    }
}

fn photo(key: &str, contact: &str, kind: &str, data: &Map<String, Value>) -> Map<String, Value> {
    let mut photo = Map::new();
    photo.insert("id".to_owned(), key.into());
    photo.insert("contact_id".to_owned(), contact.into());
    photo.insert("kind".to_owned(), kind.into());
    if let Some(revised) = data.get("revised_at") {
        photo.insert("revised_at".to_owned(), revised.clone());
    }
    photo
}

/// Keeps what is inside a card.
pub(super) fn photos(
    card: &Component,
    contact: &str,
    data: &Map<String, Value>,
    place: &str,
    sink: &mut dyn Sink,
) -> Result<Photos, Stop> {
    let mut photos = Photos::default();
    for property in &card.properties {
        let kind = match property.name.as_str() {
            "PHOTO" => "photo",
            "LOGO" => "logo",
            "SOUND" => "sound",
            _ => continue,
        };
        let value = property.value.trim();
        if value.is_empty() {
            continue;
        }
        photos.count += 1;
        let key = photo_key(contact, photos.count);
        let mut photo = photo(&key, contact, kind, data);
        match content(property, value) {
            Content::Link => drop(photo.insert("url".to_owned(), value.into())),
            Content::Nothing => {
                let message = format!("{} is neither base64 nor a link; it was left out.", property.name);
                sink.complain(Complaint::damaged(place, message))?;
                continue;
            }
            Content::Bytes(bytes, media_type) => {
                let media_type = media_type_of_bytes(&bytes).map_or(media_type, str::to_owned);
                let attachment =
                    Attachment { stream: "photos", key: &key, name: None, media_type: &media_type };
                let Some(kept) = sink.attach(&attachment, &mut bytes.as_slice())? else {
                    let message = format!("{} could not be kept.", property.name);
                    sink.complain(Complaint::damaged(place, message))?;
                    continue;
                };
                photos.kept |= kind == "photo";
                put_kept(&mut photo, &kept);
            }
        }
        photos.drafts.push(Draft { stream: "photos".to_owned(), key, data: photo, place: place.to_owned() });
    }
    Ok(photos)
}

/// Keeps a picture from beside a card's file.
pub(super) fn attach_loose(tree: &mut dyn Tree, loose: &Loose, sink: &mut dyn Sink) -> Result<(), Stop> {
    let path = tree.entries()[loose.entry].path.clone();
    let mut photo = loose.photo.clone();
    let key = photo.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut bytes = match tree.open(loose.entry) {
        Ok(bytes) => bytes,
        Err(error) => return sink.complain(Complaint::unreadable(path, &error)),
    };
    let name = file_name(&path);
    let media_type = media_type_of_name(&path).unwrap_or("application/octet-stream");
    let attachment = Attachment { stream: "photos", key: &key, name: Some(name), media_type };
    let Some(kept) = sink.attach(&attachment, &mut bytes)? else {
        return sink.complain(Complaint::damaged(path, "The picture could not be read to its end."));
    };
    photo.insert("name".to_owned(), name.into());
    put_kept(&mut photo, &kept);
    sink.record(Draft { stream: "photos".to_owned(), key, data: photo, place: path })
}

fn put_kept(photo: &mut Map<String, Value>, kept: &crate::Attached) {
    photo.insert("media_type".to_owned(), kept.media_type.as_str().into());
    photo.insert("size_bytes".to_owned(), kept.size_bytes.into());
    photo.insert("sha256".to_owned(), kept.sha256.as_str().into());
    photo.insert("blob_ref".to_owned(), kept.blob_ref());
    photo.insert("text".to_owned(), kept.text.clone().into());
}

/// A new picture of the same person takes the place of the old one.
fn photo_key(contact: &str, number: usize) -> String {
    mint_key(&format!("{contact}~photo{number}"))
}

enum Content {
    Bytes(Vec<u8>, String),
    Link,
    Nothing,
}

fn content(property: &Property, value: &str) -> Content {
    let said =
        property.words("TYPE").into_iter().next().or(property.parameter("MEDIATYPE").map(str::to_owned));
    let said = match said {
        Some(said) if said.contains('/') => said,
        Some(said) if property.name == "SOUND" => format!("audio/{said}"),
        Some(said) => format!("image/{said}"),
        None => "application/octet-stream".to_owned(),
    };
    if let Some(rest) = value.strip_prefix("data:") {
        let Some((head, body)) = rest.split_once(',') else { return Content::Nothing };
        let media_type = head.split(';').next().filter(|kind| kind.contains('/')).map_or(said, str::to_owned);
        return decode_base64(body).map_or(Content::Nothing, |bytes| Content::Bytes(bytes, media_type));
    }
    if property.is_base64() {
        return decode_base64(value).map_or(Content::Nothing, |bytes| Content::Bytes(bytes, said));
    }
    let scheme = value.split_once(':').map(|(scheme, _)| scheme);
    match scheme {
        Some(scheme) if scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()) => Content::Link,
        _ => Content::Nothing,
    }
}

/// Cards often name no type, or a wrong one.
fn media_type_of_bytes(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

/// The kind of picture a file is, by its name.
pub(super) fn media_type_of_name(path: &str) -> Option<&'static str> {
    let (_, end) = file_name(path).rsplit_once('.')?;
    match end.to_ascii_lowercase().as_str() {
        "jpg" | "jpeg" => Some("image/jpeg"),
        "png" => Some("image/png"),
        "gif" => Some("image/gif"),
        "webp" => Some("image/webp"),
        _ => None,
    }
}
