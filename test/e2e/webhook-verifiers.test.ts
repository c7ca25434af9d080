import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pino } from 'pino';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startWorker } from '../../src/main/worker/worker-runtime.ts';
import { aProject, type TestApi, testApi } from '../support/api.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { fetched } from '../support/fetched.ts';
import { FakeMailer } from '../support/mailer.ts';
import { startReceiver } from '../support/receiver.ts';

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'fernpost-verifiers-'));

/** A real delivery, and what verifying it with a secret must come to. */
interface Case {
  secret: string;
  body: string;
  headers: Record<string, string>;
  valid: boolean;
}

let database: TestDatabase;
let api: TestApi;
let cases: Case[];

beforeAll(async () => {
  database = await testDatabase();
  api = await testApi(database, { WEBHOOK_ALLOWED_HOSTS: '127.0.0.1' });
  cases = await realDeliveries();
  writeFileSync(join(folder, 'cases.json'), JSON.stringify(cases));
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await api.close();
  await database.close();
});

// One before the rotation, one while both secrets sign, and one after the overlap, each with a body of unicode.
async function realDeliveries(): Promise<Case[]> {
  await using receiver = await startReceiver();
  await using _worker = await startWorker(api.config, pino({ level: 'silent' }), { mailer: new FakeMailer({}) });
  const project = await aProject(database);
  const call = (path: string, body: object) => api.call(project.secretKey, 'POST', `/webhook-endpoints${path}`, body);
  const url = `http://127.0.0.1:${receiver.port}/`;
  const { id, secret: old } = (await call('', { url, events: ['order.*'] })).body;
  const delivered = async (count: number) => {
    const data = { text: 'Grüße, 世界 🦩 \u2028 "quoted" <b>', n: count };
    const event = { email: 'ada@example.org', event: 'order.paid', data };
    expect((await api.call(project.publicKey, 'POST', '/v1/track', event)).status).toBe(200);
    await vi.waitUntil(() => receiver.requests.length === count, { timeout: 600_000 });
  };
  await delivered(1);
  const { secret: fresh } = (await call(`/${id}/rotate-secret`, { overlapHours: 1 })).body;
  await delivered(2);
  await database.db.count('update webhook_endpoints set old_secret_until = now() where id = $1', [id]);
  await delivered(3);
  const of = (
    place: number,
    secret: string,
    valid: boolean,
    change: (body: string) => string = (body) => body,
  ): Case => {
    const request = receiver.requests[place];
    if (request === undefined) throw new Error(`Delivery ${place} did not arrive`);
    const { headers, body } = request;
    const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
    return {
      secret,
      valid,
      body: change(body),
      headers: Object.fromEntries(names.map((name) => [name, String(headers[name])])),
    };
  };
  return [
    of(0, old, true),
    of(0, fresh, false),
    of(1, old, true),
    of(1, fresh, true),
    of(2, old, false),
    of(2, fresh, true),
    of(2, fresh, false, (body) => body.replace('🦩', '🦆')),
  ];
}

const expected = () => cases.map(({ valid }) => valid);

test('JavaScript', () => {
  expect(cases[0]?.body).toContain('世界 🦩');
  const verdicts = cases.map(({ secret, body, headers }) => {
    try {
      new Webhook(secret).verify(body, headers);
      return true;
    } catch {
      return false;
    }
  });
  expect(verdicts).toEqual(expected());
});

test('Python', async (context) => {
  const packages = join(folder, 'python');
  const install = ['-m', 'pip', 'install', '--quiet', '--target', packages, 'standardwebhooks==1.1.0'];
  await fetched(context, 'python3', install, { cwd: folder });
  writeFileSync(
    join(folder, 'verify.py'),
    `import json
from standardwebhooks import Webhook
verdicts = []
for case in json.load(open("cases.json", encoding="utf-8")):
    try:
        Webhook(case["secret"]).verify(case["body"], case["headers"])
        verdicts.append(True)
    except Exception as error:
        if "WebhookVerificationError" not in type(error).__name__:
            raise
        verdicts.append(False)
print(json.dumps(verdicts))
`,
  );
  const said = await outputOf('python3', ['verify.py'], folder, { env: { PYTHONPATH: packages }, install: 'Python 3' });
  expect(JSON.parse(said)).toEqual(expected());
});

test('Go', async (context) => {
  writeFileSync(join(folder, 'go.mod'), 'module verifiers\n\ngo 1.18\n');
  writeFileSync(
    join(folder, 'main.go'),
    `package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

type testCase struct {
	Secret  string
	Body    string
	Headers map[string]string
}

func main() {
	text, err := os.ReadFile("cases.json")
	if err != nil {
		panic(err)
	}
	var cases []testCase
	if err := json.Unmarshal(text, &cases); err != nil {
		panic(err)
	}
	verdicts := []bool{}
	for _, one := range cases {
		headers := http.Header{}
		for name, value := range one.Headers {
			headers.Set(name, value)
		}
		webhook, err := standardwebhooks.NewWebhook(one.Secret)
		if err != nil {
			panic(err)
		}
		verdicts = append(verdicts, webhook.Verify([]byte(one.Body), headers) == nil)
	}
	answer, _ := json.Marshal(verdicts)
	fmt.Println(string(answer))
}
`,
  );
  const install = 'Go 1.18 or newer (Debian: apt-get install golang-go)';
  const library = 'github.com/standard-webhooks/standard-webhooks/libraries@v0.0.1';
  await fetched(context, 'go', ['get', library], { cwd: folder });
  // Built as Temporal's server is, whose set-up has compiled the standard library in the same way.
  const said = await outputOf('go', ['run', '-trimpath', '.'], folder, { install, env: { CGO_ENABLED: '0' } });
  expect(JSON.parse(said)).toEqual(expected());
});

/** Runs a program and answers what it said. @throws with what to install where it is missing, so that nothing is skipped */
async function outputOf(
  program: string,
  args: string[],
  cwd: string,
  { install, env = {} }: { install: string; env?: Record<string, string> },
): Promise<string> {
  try {
    const { stdout } = await run(program, args, { cwd, env: { ...process.env, ...env } });
    return stdout;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw new Error(`${program} is missing: install ${install}`, { cause: error });
    throw error;
  }
}
