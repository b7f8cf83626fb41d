//! An authenticator in software: makes one key, and signs challenges with it, as the specification of `WebAuthn` says.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use p256::ecdsa::signature::Signer as _;
use p256::ecdsa::{DerSignature, SigningKey};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

const PRESENT: u8 = 0x01;
const VERIFIED: u8 = 0x04;
const WITH_KEY: u8 = 0x40;

pub(crate) struct Authenticator {
    key: SigningKey,
    id: Vec<u8>,
    pub(crate) counter: u32,
    /// Whether it asks its holder for a finger or a number.
    pub(crate) verifies: bool,
}

impl Authenticator {
    pub(crate) fn new(seed: u8) -> Self {
        let key = SigningKey::from_slice(&[seed; 32]).unwrap();
        Self { key, id: vec![seed; 16], counter: 0, verifies: true }
    }

    /// Answers the options of a registration.
    pub(crate) fn create(&mut self, options: &Value, origin: &str) -> Value {
        let asked = &options["publicKey"];
        let data = client_data("webauthn.create", asked, origin);
        let mut key_data = vec![0; 16];
        key_data.extend(u16::try_from(self.id.len()).unwrap().to_be_bytes());
        key_data.extend(&self.id);
        key_data.extend(self.cose_key());
        let auth_data = self.auth_data(asked["rp"]["id"].as_str().unwrap(), WITH_KEY, &key_data);
        // {"fmt": "none", "attStmt": {}, "authData": bytes}
        let mut object = vec![0xA3];
        object.extend(b"\x63fmt\x64none\x67attStmt\xA0\x68authData");
        object.push(0x58);
        object.push(u8::try_from(auth_data.len()).unwrap());
        object.extend(auth_data);
        json!({
            "id": text(&self.id), "rawId": text(&self.id), "type": "public-key",
            "response": { "attestationObject": text(&object), "clientDataJSON": text(&data) },
        })
    }

    /// Answers the options of a sign-in.
    pub(crate) fn get(&mut self, options: &Value, origin: &str) -> Value {
        let asked = &options["publicKey"];
        let data = client_data("webauthn.get", asked, origin);
        self.counter += 1;
        let auth_data = self.auth_data(asked["rpId"].as_str().unwrap(), 0, &[]);
        let signed = [auth_data.as_slice(), &Sha256::digest(&data)].concat();
        let signature: DerSignature = self.key.sign(&signed);
        json!({
            "id": text(&self.id), "rawId": text(&self.id), "type": "public-key",
            "response": {
                "authenticatorData": text(&auth_data), "clientDataJSON": text(&data),
                "signature": text(signature.as_bytes()), "userHandle": null,
            },
        })
    }

    fn auth_data(&self, rp_id: &str, flags: u8, rest: &[u8]) -> Vec<u8> {
        let verified = if self.verifies { VERIFIED } else { 0 };
        let mut data = Sha256::digest(rp_id.as_bytes()).to_vec();
        data.push(PRESENT | verified | flags);
        data.extend(self.counter.to_be_bytes());
        data.extend(rest);
        data
    }

    /// {1: 2, 3: -7, -1: 1, -2: x, -3: y}
    fn cose_key(&self) -> Vec<u8> {
        let point = self.key.verifying_key().to_sec1_point(false);
        let mut key = vec![0xA5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20];
        key.extend(&point.as_bytes()[1..33]);
        key.extend([0x22, 0x58, 0x20]);
        key.extend(&point.as_bytes()[33..65]);
        key
    }
}

fn client_data(kind: &str, asked: &Value, origin: &str) -> Vec<u8> {
    json!({ "type": kind, "challenge": asked["challenge"], "origin": origin, "crossOrigin": false })
        .to_string()
        .into_bytes()
}

fn text(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}
