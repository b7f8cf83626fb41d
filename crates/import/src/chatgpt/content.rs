//! What a message says, in each of the ways the service writes it down.

use serde_json::{Value, json};

use crate::members::{Fields, count, is_shallow, list, text};

/// Most sources kept of one message.
const MOST_CITATIONS: usize = 200;

/// The content of a message.
#[derive(Debug, Default)]
pub(super) struct Content {
    /// All its text, in the order it stands.
    pub(super) text: String,
    /// Pictures, sounds and files it shows.
    pub(super) shown: Vec<Shown>,
    /// Sources it names.
    pub(super) citations: Vec<Value>,
    /// The content as it stands, where its kind is not known.
    pub(super) extra: Option<Value>,
    /// Whether an unknown content was nested too deep to be kept.
    pub(super) too_deep: bool,
}

/// Something shown in a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Shown {
    /// The service's pointer, `file-service://file-…`.
    pub(super) pointer: String,
    pub(super) kind: &'static str,
    pub(super) size_bytes: Option<i64>,
    pub(super) width: Option<i64>,
    pub(super) height: Option<i64>,
    /// What a generated picture was asked for.
    pub(super) prompt: Option<String>,
}

impl Content {
    pub(super) fn read(content: &Value) -> Self {
        let mut read = Self::default();
        match text(content, "content_type").unwrap_or_default() {
            "text" | "multimodal_text" => read.parts(content),
            "code" | "execution_output" => read.say(text(content, "text")),
            "system_error" => {
                read.say(text(content, "name"));
                read.say(text(content, "text"));
            }
            "tether_quote" => {
                read.say(text(content, "text"));
                read.cite(content);
            }
            "tether_browsing_display" => {
                read.say(text(content, "result"));
                read.say(text(content, "summary"));
            }
            "thoughts" => {
                for thought in list(content, "thoughts") {
                    read.say(text(thought, "summary"));
                    read.say(text(thought, "content"));
                }
            }
            "reasoning_recap" => read.say(text(content, "content")),
            "user_editable_context" => {
                read.say(text(content, "user_profile"));
                read.say(text(content, "user_instructions"));
            }
            "model_editable_context" => read.say(text(content, "model_set_context")),
            _ => read.unknown(content),
        }
        read
    }

    /// Sources that the message's metadata names.
    pub(super) fn cite_metadata(&mut self, metadata: &Value) {
        for citation in list(metadata, "citations") {
            self.cite(citation.get("metadata").unwrap_or(citation));
        }
        for reference in list(metadata, "content_references") {
            self.cite(reference);
            for item in list(reference, "items") {
                self.cite(item);
            }
        }
    }

    fn say(&mut self, text: Option<&str>) {
        let Some(text) = text else { return };
        if !self.text.is_empty() {
            self.text.push_str("\n\n");
        }
        self.text.push_str(text);
    }

    fn parts(&mut self, content: &Value) {
        // Early exports wrote the text beside the parts.
        self.say(text(content, "text"));
        for part in list(content, "parts") {
            match part {
                Value::String(part) => self.say(Some(part.as_str()).filter(|part| !part.is_empty())),
                part => self.part(part),
            }
        }
    }

    fn part(&mut self, part: &Value) {
        self.say(text(part, "text"));
        let kind = match text(part, "content_type").unwrap_or_default() {
            "image_asset_pointer" => "image",
            "audio_asset_pointer" => "audio",
            "video_container_asset_pointer" => "video",
            _ => "file",
        };
        self.show(part, kind);
        // Spoken turns hold their pointers one level further down.
        if let Some(audio) = part.get("audio_asset_pointer") {
            self.show(audio, "audio");
        }
        if let Some(video) = part.get("video_container_asset_pointer") {
            self.show(video, "video");
        }
        for frame in list(part, "frames_asset_pointers") {
            self.show(frame, "image");
        }
    }

    fn show(&mut self, part: &Value, kind: &'static str) {
        let Some(pointer) = text(part, "asset_pointer").or_else(|| part.as_str()) else { return };
        let dalle = part.pointer("/metadata/dalle");
        let shown = Shown {
            pointer: pointer.to_owned(),
            kind: if dalle.is_some_and(Value::is_object) { "generated image" } else { kind },
            size_bytes: count(part, "size_bytes"),
            width: count(part, "width"),
            height: count(part, "height"),
            prompt: dalle.and_then(|dalle| text(dalle, "prompt")).map(str::to_owned),
        };
        self.shown.push(shown);
    }

    fn cite(&mut self, source: &Value) {
        let Some(url) = text(source, "url") else { return };
        let known = self.citations.iter().any(|known| known["url"] == *url);
        if known || self.citations.len() >= MOST_CITATIONS {
            return;
        }
        let title = text(source, "title").or_else(|| text(source, "domain"));
        self.citations.push(match title {
            Some(title) => json!({"url": url, "title": title}),
            None => json!({"url": url}),
        });
    }

    /// A kind that is not known: the members that usually hold text, and everything as it stands.
    fn unknown(&mut self, content: &Value) {
        for name in ["text", "content", "result", "summary"] {
            self.say(text(content, name));
        }
        self.parts(&json!({"parts": list(content, "parts")}));
        if content.is_object() && is_shallow(content) {
            self.extra = Some(content.clone());
        } else {
            self.too_deep = content.is_object();
        }
    }
}

impl Shown {
    pub(super) fn put_into(&self, fields: &mut Fields) {
        fields.put("kind", self.kind);
        fields.put_some("width", self.width);
        fields.put_some("height", self.height);
        fields.put_some("prompt", self.prompt.as_deref());
    }
}
