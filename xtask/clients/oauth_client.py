"""A public OAuth client, Authlib, against the authorization server of a running `pdpp serve`.

Usage: python oauth_client.py URL, with an owner token of that server in PDPP_OWNER_TOKEN.

Authlib makes and checks what it has code for: metadata, PKCE, the code, device and refresh requests, revocation, and
bearer requests. It has no code for three things a client sends, which are plain requests here: registration
(RFC 7591), the pushed request (RFC 9126, whose parameters are Authlib's), and the start of the device flow (RFC 8628).
Whoever approves is not the client: `Owner` decides through the consent routes. Prints one line per check and exits
with 1 if anything differs.
"""

import json
import os
import sys
import time
from urllib.parse import parse_qs, parse_qsl, urlsplit

# The server is on loopback, where there is nobody to hide from.
os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"

import requests
from authlib.common.security import generate_token
from authlib.integrations.base_client import OAuthError
from authlib.integrations.requests_client import OAuth2Session
from authlib.oauth2 import rfc8414, rfc9207

REDIRECT = "http://127.0.0.1:9/callback"
DEVICE = "urn:ietf:params:oauth:grant-type:device_code"
DETAILS = json.dumps(
    [
        {
            "type": "https://pdpp.dev/data-access",
            "source": {"id": "urn:pdpp:source:harbour-chat"},
            "purpose_code": "https://pdpp.dev/purpose/agent_context",
            "purpose_description": "Find what was agreed",
            "access_mode": "continuous",
            "streams": [{"name": "messages", "fields": ["author", "text", "sent_at"]}],
        }
    ]
)

failures = 0


def check(what, expected, found):
    global failures
    ok = expected == found
    failures += 0 if ok else 1
    detail = "" if ok else f" expected={expected}"
    print(f"{'ok  ' if ok else 'FAIL'} authlib {what} -> {found}{detail}", flush=True)


class Owner:
    def __init__(self, url, token):
        self.url = url
        self.session = requests.Session()
        self.session.headers["Authorization"] = f"Bearer {token}"

    def approve(self, page):
        """Approves exactly what is shown."""
        shown = self.session.get(page).json()
        decision = {name: shown[name] for name in ("approval_id", "approval_review_revision")}
        answer = self.session.post(f"{self.url}/consent/approve", json=decision)
        answer.raise_for_status()
        return answer.json()


def outcome(call):
    """`ok`, or the code of the error the server answered."""
    try:
        call()
        return "ok"
    except OAuthError as error:
        return error.error


def discover(url):
    document = requests.get(rfc8414.get_well_known_url(url, external=True)).json()
    metadata = rfc8414.AuthorizationServerMetadata(document)
    metadata.validate(metadata_classes=[rfc9207.AuthorizationServerMetadata])
    check("issuer", url, metadata["issuer"])
    return metadata


def register(metadata):
    wanted = {
        "client_name": "Authlib",
        "redirect_uris": [REDIRECT],
        "grant_types": ["authorization_code", "refresh_token", DEVICE],
        "token_endpoint_auth_method": "none",
    }
    answer = requests.post(metadata["registration_endpoint"], json=wanted)
    check("registration", 201, answer.status_code)
    return answer.json()["client_id"]


def session_of(metadata, client_id):
    return OAuth2Session(
        client_id,
        redirect_uri=REDIRECT,
        code_challenge_method="S256",
        token_endpoint=metadata["token_endpoint"],
    )


def read(session, metadata):
    # Authlib refreshes by itself shortly before the end; ten minutes is far enough away.
    return session.get(f"{metadata['issuer']}/v1/streams/messages/records?limit=1").status_code


def refresh_and_revoke(what, session, metadata):
    check(f"{what}: records", 200, read(session, metadata))
    first = dict(session.token)
    refreshed = session.refresh_token(metadata["token_endpoint"])
    check(f"{what}: refreshed token is another", True, refreshed["access_token"] != first["access_token"])
    check(f"{what}: records after refresh", 200, read(session, metadata))
    newest = refreshed["refresh_token"]
    revoked = session.revoke_token(metadata["revocation_endpoint"], token=newest, token_type_hint="refresh_token")
    check(f"{what}: revocation", 200, revoked.status_code)
    check(f"{what}: records after revocation", 401, read(session, metadata))
    again = outcome(lambda: session.refresh_token(metadata["token_endpoint"], refresh_token=newest))
    check(f"{what}: refresh after revocation", "invalid_grant", again)


def code_flow(metadata, client_id, owner, pushed):
    what = "pushed code" if pushed else "code"
    session = session_of(metadata, client_id)
    verifier = generate_token(48)
    url, state = session.create_authorization_url(
        metadata["authorization_endpoint"],
        code_verifier=verifier,
        resource=f"{metadata['issuer']}/mcp",
        authorization_details=DETAILS,
    )
    if pushed:
        answer = requests.post(
            metadata["pushed_authorization_request_endpoint"], data=dict(parse_qsl(urlsplit(url).query))
        )
        check(f"{what}: pushed", 201, answer.status_code)
        page = {"client_id": client_id, "request_uri": answer.json()["request_uri"]}
        asked = requests.get(metadata["authorization_endpoint"], params=page, allow_redirects=False)
    else:
        asked = requests.get(url, allow_redirects=False)
    check(f"{what}: to the consent page", 303, asked.status_code)
    back = owner.approve(asked.headers["Location"])["redirect_to"]
    check(f"{what}: answer comes from", [metadata["issuer"]], parse_qs(urlsplit(back).query).get("iss"))
    session.state = state
    session.fetch_token(metadata["token_endpoint"], authorization_response=back, code_verifier=verifier)
    check(f"{what}: token", "Bearer", session.token["token_type"])
    refresh_and_revoke(what, session, metadata)
    twice = outcome(
        lambda: session.fetch_token(
            metadata["token_endpoint"], authorization_response=back, code_verifier=verifier
        )
    )
    check(f"{what}: the same code again", "invalid_grant", twice)


def device_flow(metadata, client_id, owner):
    session = session_of(metadata, client_id)
    wanted = {"client_id": client_id, "resource": f"{metadata['issuer']}/mcp", "authorization_details": DETAILS}
    started = requests.post(metadata["device_authorization_endpoint"], data=wanted).json()

    def poll():
        session.fetch_token(metadata["token_endpoint"], grant_type=DEVICE, device_code=started["device_code"])

    check("device: before the approval", "authorization_pending", outcome(poll))
    owner.approve(f"{metadata['issuer']}/consent?user_code={started['user_code']}")
    time.sleep(started["interval"])
    check("device: after the approval", "ok", outcome(poll))
    refresh_and_revoke("device", session, metadata)


def main():
    url = sys.argv[1]
    owner = Owner(url, os.environ["PDPP_OWNER_TOKEN"])
    metadata = discover(url)
    client_id = register(metadata)
    code_flow(metadata, client_id, owner, pushed=False)
    code_flow(metadata, client_id, owner, pushed=True)
    device_flow(metadata, client_id, owner)
    print(f"authlib: {failures} mismatches", flush=True)
    sys.exit(1 if failures else 0)


main()
