"""Sends an email for each job of a file, one JSON object a line. Every job is sent once, however often this is started."""

import json
import os
import sys

import httpx
from fernpost import Fernpost, FernpostError

URL = os.environ.get("FERNPOST_URL", "http://localhost:3000")
SENDER = os.environ.get("SENDER", "hello@fernpost.test")

fernpost = Fernpost(URL, key=os.environ["FERNPOST_KEY"], retries=4)


def send(job):
    """Sends one job and returns the ID of its email. The ID of the job makes a repetition harmless."""
    [sent] = fernpost.send(
        {
            "to": job["email"],
            "from": SENDER,
            "subject": job["subject"],
            "body": job["body"],
            "tags": {"job": job["id"]},
        },
        idempotency_key=f"job-{job['id']}",
    )
    return sent["email"]


def main(path):
    refused = 0
    with open(path, encoding="utf-8") as jobs:
        for line in jobs:
            job = json.loads(line)
            try:
                print(job["id"], send(job), flush=True)
            except FernpostError as error:
                if error.status == 429 or error.status >= 500:
                    raise SystemExit(f"The jobs from {job['id']} on are left for the next start: {error}") from error
                refused += 1
                print(f"{job['id']} refused: {error.message}", file=sys.stderr)
            except httpx.TransportError as error:
                raise SystemExit(f"{URL} does not answer; the jobs from {job['id']} on are left for the next start.") from error
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "jobs.jsonl"))
