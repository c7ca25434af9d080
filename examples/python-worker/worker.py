"""Sends an email for each job of a file, one JSON object a line. Every job is sent once, however often this is started."""

import json
import os
import sys
import time
import urllib.error
import urllib.request

URL = os.environ.get("FERNPOST_URL", "http://localhost:3000")
KEY = os.environ["FERNPOST_KEY"]
SENDER = os.environ.get("SENDER", "hello@fernpost.test")
ATTEMPTS = 5


class Refused(Exception):
    """The service refused a job: sending it again would change nothing."""


def send(job):
    """Sends one job and returns the id of its email. The id of the job makes a repetition harmless."""
    body = {
        "to": job["email"],
        "from": SENDER,
        "subject": job["subject"],
        "body": job["body"],
        "tags": {"job": job["id"]},
    }
    headers = {
        "Authorization": f"Bearer {KEY}",
        "Content-Type": "application/json",
        "Idempotency-Key": f"job-{job['id']}",
        # A repetition gets the first answer again.
        "Idempotency-Mode": "replay",
    }
    request = urllib.request.Request(f"{URL}/v1/send", json.dumps(body).encode(), headers)
    for attempt in range(ATTEMPTS):
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                return json.load(response)["data"]["emails"][0]["email"]
        except urllib.error.HTTPError as error:
            if error.code != 429 and error.code < 500:
                raise Refused(json.load(error)["error"]["message"]) from error
        except OSError:
            pass  # Nobody answered, or the answer was lost.
        time.sleep(2**attempt)
    raise SystemExit(f"{URL} does not answer; the jobs from {job['id']} on are left for the next start.")


def main(path):
    refused = 0
    with open(path, encoding="utf-8") as jobs:
        for line in jobs:
            job = json.loads(line)
            try:
                print(job["id"], send(job), flush=True)
            except Refused as refusal:
                refused += 1
                print(f"{job['id']} refused: {refusal}", file=sys.stderr)
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "jobs.jsonl"))
