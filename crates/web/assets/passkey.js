// Passkeys, for the login page and the page of passkeys: asks the server for a challenge, the authenticator for an
// answer, and brings it back. Everything else on these pages works without script.
"use strict";

const toBytes = (text) =>
  Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
const toText = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

async function post(path, body) {
  const response = await fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify(body),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error?.message ?? "That did not work.");
  return answer;
}

function say(message) {
  const place = document.getElementById("passkey-problem");
  place.textContent = message;
  place.hidden = false;
}

const withIds = (list) => (list ?? []).map((one) => ({ ...one, id: toBytes(one.id) }));

async function add(form) {
  const begun = await post("/owner/passkeys/begin", { password: form.password.value });
  const asked = begun.options.publicKey;
  const made = await navigator.credentials.create({
    publicKey: {
      ...asked,
      challenge: toBytes(asked.challenge),
      user: { ...asked.user, id: toBytes(asked.user.id) },
      excludeCredentials: withIds(asked.excludeCredentials),
    },
  });
  await post("/owner/passkeys/finish", {
    ceremony: begun.ceremony,
    label: form.label.value,
    credential: {
      id: made.id,
      rawId: toText(made.rawId),
      type: made.type,
      response: {
        attestationObject: toText(made.response.attestationObject),
        clientDataJSON: toText(made.response.clientDataJSON),
      },
    },
  });
  location.assign("/owner/passkeys?done=added");
}

async function signIn(button) {
  const named = document.getElementById("owner");
  const begun = await post("/owner/login/passkey/begin", named ? { owner: named.value } : {});
  const asked = begun.options.publicKey;
  const made = await navigator.credentials.get({
    publicKey: {
      ...asked,
      challenge: toBytes(asked.challenge),
      allowCredentials: withIds(asked.allowCredentials),
    },
  });
  const answer = await post("/owner/login/passkey/finish", {
    ceremony: begun.ceremony,
    return_to: button.dataset.returnTo,
    credential: {
      id: made.id,
      rawId: toText(made.rawId),
      type: made.type,
      response: {
        authenticatorData: toText(made.response.authenticatorData),
        clientDataJSON: toText(made.response.clientDataJSON),
        signature: toText(made.response.signature),
        userHandle: made.response.userHandle ? toText(made.response.userHandle) : null,
      },
    },
  });
  location.assign(answer.return_to);
}

const form = document.getElementById("passkey-form");
form?.addEventListener("submit", (event) => {
  event.preventDefault();
  add(form).catch((error) => say(error.message));
});
const button = document.getElementById("passkey-sign-in");
if (button && window.PublicKeyCredential) {
  button.hidden = false;
  button.addEventListener("click", () => signIn(button).catch((error) => say(error.message)));
}
