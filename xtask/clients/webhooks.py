"""A receiver of events that verifies with the public Python library for Standard Webhooks.

Called as `webhooks.py PDPP DATA MANIFEST`: makes a grant whose events may be sent here, starts `pdpp serve`, subscribes, and checks
that the challenge, a test event and a change arrive, each signed as the library expects, and that an altered one does not
pass. Prints one line per check and exits with 1 if anything differs.
"""

import json
import queue
import subprocess
import sys
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer

from standardwebhooks import Webhook, WebhookVerificationError

PATIENCE = 30


class Receiver(BaseHTTPRequestHandler):
    taken = queue.Queue()

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        event = json.loads(body)
        self.taken.put((dict(self.headers), body))
        answer = json.dumps({"challenge": event["data"].get("challenge")}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


def main(pdpp, data):
    receiver = HTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=receiver.serve_forever, daemon=True).start()
    host = f"127.0.0.1:{receiver.server_port}"

    def run(*arguments):
        command = [pdpp, *arguments, "--data", data, "--json"]
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    token = run("grant", "create", "--client", "webhooks", "--stream", "messages", "--callback-host", host)["access_token"]
    command = [pdpp, "serve", "--data", data, "--listen", "127.0.0.1:0", "--allow-loopback-callbacks"]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        for line in server.stderr:
            if " on http://" in line:
                base = "http://" + line.strip().split(" on http://")[1]
                break
        threading.Thread(target=server.stderr.read, daemon=True).start()
        return check(base, token, f"http://{host}/", run)
    finally:
        server.terminate()
        server.wait(PATIENCE)


def check(base, token, callback, run):
    def post(path, body):
        headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
        request = urllib.request.Request(base + path, json.dumps(body).encode(), headers)
        return json.loads(urllib.request.urlopen(request).read())

    failures = 0

    def report(what, problem):
        nonlocal failures
        failures += 1 if problem else 0
        print(f"{'FAIL' if problem else 'ok  '} webhooks {what}{f' problem={problem}' if problem else ''}", flush=True)

    made = post("/v1/event-subscriptions", {"callback_url": callback})
    webhook = Webhook(made["secret"])

    def expect(kind):
        try:
            headers, body = Receiver.taken.get(timeout=PATIENCE)
            event = webhook.verify(body, headers)
            report(kind, None if event["type"] == kind else f"this came: {event['type']}")
            return headers, body
        except (queue.Empty, WebhookVerificationError) as error:
            report(kind, repr(error))
            return None

    expect("pdpp.subscription.verify")
    post(f"/v1/event-subscriptions/{made['subscription_id']}/test-event", {})
    taken = expect("pdpp.subscription.test")
    if taken:
        headers, body = taken
        try:
            webhook.verify(body.replace(b"test", b"best"), headers)
            report("an altered event", "it passed")
        except WebhookVerificationError:
            report("an altered event", None)
    record = {"stream": "messages", "key": "m_python", "data": {"id": "m_python", "channel_id": "c", "author": "Ana", "text": "x", "sent_at": "2026-01-01T00:00:00Z"}}
    run_import(run, record)
    expect("pdpp.records.changed")
    return 1 if failures else 0


def run_import(run, record):
    with open("webhooks.jsonl", "w", encoding="utf-8") as file:
        file.write(json.dumps(record))
    run("import", "webhooks.jsonl", "--format", "jsonl", "--manifest", sys.argv[3])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
