"""A receiver of events that verifies with the public Python library for Standard Webhooks.

Called as `webhooks.py PDPP DATA MANIFEST`: makes a grant whose events may be sent here, starts `pdpp serve`, subscribes, and checks
that the challenge, a test event and a change arrive, each signed as the library expects, and that an altered one does not
pass. Then it misbehaves, each time at a path of its own, and checks what the server writes in its log of deliveries. Prints one
line per check and exits with 1 if anything differs.
"""

import json
import queue
import subprocess
import sys
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from standardwebhooks import Webhook, WebhookVerificationError

PATIENCE = 30


# By the path of the callback: what the log of deliveries must say of the first attempt.
MISBEHAVIOUR = {
    "broken": ("failed", 500),
    "busy": ("deferred", 429),
    "gone": ("gave_up", 410),
    "redirecting": ("failed", 307),
    "dropping": ("failed", None),
    "slow": ("failed", None),
    "huge": ("delivered", 200),
}


class Receiver(BaseHTTPRequestHandler):
    taken = queue.Queue()
    # What came to each path that misbehaves.
    misused = {}

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        event = json.loads(body)
        path = self.path.strip("/")
        if path and "challenge" not in event["data"]:
            before = self.misused.setdefault(path, [])
            before.append((dict(self.headers), body))
            return self.misbehave(path, len(before))
        if not path:
            self.taken.put((dict(self.headers), body))
        return self.answer(200, json.dumps({"challenge": event["data"].get("challenge")}).encode())

    def misbehave(self, path, count):
        if path == "broken":
            self.answer(500, b"out of order")
        elif path == "busy":
            self.answer(429 if count == 1 else 200, b"", {"retry-after": "1"})
        elif path == "gone":
            self.answer(410, b"")
        elif path == "redirecting":
            self.answer(307, b"", {"location": "/elsewhere"})
        elif path == "dropping":
            self.close_connection = True
            self.connection.close()
        elif path == "slow":
            time.sleep(PATIENCE)
        elif path == "huge":
            self.send_response(200)
            self.end_headers()
            try:
                while True:
                    self.wfile.write(b"x" * 65536)
            except OSError:
                self.close_connection = True

    def answer(self, status, body, headers=None):
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def handle(self):
        # A caller who leaves early is what some of this is about.
        try:
            super().handle()
        except OSError:
            pass

    def finish(self):
        try:
            super().finish()
        except (OSError, ValueError):
            pass

    def log_message(self, *_):
        pass


def main(pdpp, data):
    receiver = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
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
    def ask(path, body=None):
        headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(base + path, data, headers)
        return json.loads(urllib.request.urlopen(request).read())

    def wait_for(path, holds):
        for _ in range(PATIENCE * 10):
            found = ask(path)
            if holds(found):
                break
            time.sleep(0.1)
        return found

    failures = 0

    def report(what, problem):
        nonlocal failures
        failures += 1 if problem else 0
        print(f"{'FAIL' if problem else 'ok  '} webhooks {what}{f' problem={problem}' if problem else ''}", flush=True)

    made = ask("/v1/event-subscriptions", {"callback_url": callback})
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
    ask(f"/v1/event-subscriptions/{made['subscription_id']}/test-event", {})
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

    paths = {}
    for name in MISBEHAVIOUR:
        made = ask("/v1/event-subscriptions", {"callback_url": callback + name})
        paths[name] = f"/v1/event-subscriptions/{made['subscription_id']}", Webhook(made["secret"])
    for path, _ in paths.values():
        wait_for(path, lambda one: one["status"] == "active")
        ask(f"{path}/test-event", {})
    for name, (path, signed) in paths.items():

        def attempts(log):
            return [one for one in reversed(log["data"]) if one["type"] == "pdpp.subscription.test"]

        least = 2 if name == "busy" else 1
        log = attempts(wait_for(f"{path}/deliveries", lambda log: len(attempts(log)) >= least))
        outcome = (log[0]["outcome"], log[0].get("http_status")) if log else None
        report(f"a receiver that is {name}", None if outcome == MISBEHAVIOUR[name] else f"log={log}")
        for headers, body in Receiver.misused.get(name, []):
            signed.verify(body, headers)
    came = Receiver.misused
    again = [(headers["webhook-id"], body) for headers, body in came.get("busy", [])]
    report("another try says the same", None if len(again) == 2 and again[0] == again[1] else f"came={again}")
    report("a redirect leads nowhere", "it was followed" if "elsewhere" in came else None)
    status = ask(paths["gone"][0])["status"]
    report("a receiver that is gone for good", None if status == "disabled_failure" else f"status={status}")
    return 1 if failures else 0


def run_import(run, record):
    with open("webhooks.jsonl", "w", encoding="utf-8") as file:
        file.write(json.dumps(record))
    run("import", "webhooks.jsonl", "--format", "jsonl", "--manifest", sys.argv[3])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
