import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Call, client, startStack, type Victim } from '@fernpost/drill';
import pg from 'pg';
import { expect, test } from 'vitest';
import { settings } from '../../src/lib/config/settings.ts';
import { keptSecrets } from '../../src/main/start/settings.ts';
import { inFull } from '../support/long.ts';
import { startReceiver } from '../support/receiver.ts';

// More of them take minutes on two cores: WEBHOOK_SOAK_EVENTS=20000 npm run test:soak -- tests -- test/e2e/webhook-soak.test.ts
const wanted = Number(process.env.WEBHOOK_SOAK_EVENTS ?? inFull(3_000, 700));
// One in twenty-one is none that the endpoint subscribes to.
const events = Math.ceil((wanted * 21) / 20);
const writers = 12;
const rounds = inFull(2, 1);
const victims: readonly Victim[] = ['api', 'worker', 'postgres', 'temporal'];

const service = {
  root: fileURLToPath(new URL('../..', import.meta.url)),
  program: 'src/main/start.ts',
  settings: Object.keys(settings),
  postgresPassword: (dataDir: string) => keptSecrets(dataDir).postgresPassword,
};

test(`${wanted} events reach an endpoint that fails in every way, once each in the sequence, while everything is killed`, async () => {
  const silent = new Set<() => void>();
  await using receiver = await startReceiver(async (_, response, number) => {
    if (number % 101 === 7) response.destroy();
    else if (number % 97 === 11) response.writeHead(500).end();
    else if (number % 2_003 === 13) await new Promise<void>((resolve) => void silent.add(resolve));
    else {
      if (number % 499 === 17) await sleep(500);
      response.writeHead(200).end();
    }
  });
  const stack = await startStack(
    service,
    { WEBHOOK_ALLOWED_HOSTS: '127.0.0.1', RATE_LIMIT_PER_MINUTE: '1000000' },
    new AbortController().signal,
  );
  try {
    const call = client(stack.project.baseUrl, stack.project.secretKey);
    const url = `http://127.0.0.1:${receiver.port}/`;
    const { body: endpoint } = await call('POST', '/webhook-endpoints', { url, events: ['order.*'] });

    const killed: Record<string, number> = {};
    const kills = (async () => {
      for (let round = 0; round < rounds; round++)
        for (const victim of victims) {
          await sleep(4_000);
          if (await stack.kill(victim)) killed[victim] = (killed[victim] ?? 0) + 1;
        }
    })();
    let written = 0;
    const write = async () => {
      for (let n = written++; n < events; n = written++) {
        const body = { name: n % 21 === 20 ? 'other' : 'order.paid', data: { n } };
        await recorded(call, body);
      }
    };
    await Promise.all(Array.from({ length: writers }, write));
    await kills;
    expect(killed).toEqual(Object.fromEntries(victims.map((victim) => [victim, rounds])));

    const audit = await settled(call, stack.databaseUrl, endpoint.id);
    const matched = await matchedEvents(stack.databaseUrl);
    // A request whose answer was lost may have recorded its event twice, so there are at least as many.
    expect(matched.length).toBeGreaterThanOrEqual(wanted);
    expect(audit).toMatchObject({
      events: matched.length,
      delivered: matched.length,
      failed: 0,
      addsUp: true,
      firstSequence: 1,
      lastSequence: matched.length,
    });
    const first = new Map<string, { sequence: string; body: string }>();
    for (const { headers, body } of receiver.requests) {
      const [id, sequence] = [String(headers['webhook-id']), String(headers['webhook-sequence'])];
      // Repetitions are the same call.
      expect(first.get(id) ?? { sequence, body }).toEqual({ sequence, body });
      first.set(id, { sequence, body });
    }
    expect([...first.keys()].toSorted()).toEqual(matched.map((id) => `evt_${id}`).toSorted());
    const sequences = [...first.values()].map(({ sequence }) => Number(sequence)).toSorted((one, other) => one - other);
    expect(sequences).toEqual(matched.map((_, place) => place + 1));
    console.log(`${receiver.requests.length} calls for ${matched.length} events; restarts: ${stack.restarts().length}`);
  } finally {
    for (const answer of silent) answer();
    await stack.stop(false);
  }
});

// Again until it is accepted, as an app does whose server is away for a moment.
async function recorded(call: Call, body: object): Promise<void> {
  for (;;) {
    const status = await call('POST', '/events/track', body).then(
      (answer) => answer.status,
      () => null,
    );
    if (status === 201) return;
    if (status !== null && status < 500) throw new Error(`An event was refused with ${status}`);
    await sleep(250);
  }
}

/** The endpoint's audit once nothing waits any more; failed attempts are not waited for. */
async function settled(call: Call, databaseUrl: string, id: string) {
  const giveUpAt = Date.now() + 900_000;
  for (;;) {
    await query(
      databaseUrl,
      "update webhook_deliveries set due_at = now() where status = 'PENDING' and attempts > 0",
    ).catch(() => []);
    const audit = await call('GET', `/webhook-endpoints/${id}/audit`).then(
      ({ status, body }) => (status === 200 ? body : null),
      () => null,
    );
    if ((audit?.pending === 0 && audit.events === audit.delivered) || Date.now() > giveUpAt) return audit;
    await sleep(2_000);
  }
}

async function matchedEvents(databaseUrl: string): Promise<string[]> {
  const rows = await query(databaseUrl, "select id from events where name like 'order.%' order by created_at, id");
  return rows.map(({ id }) => String(id));
}

async function query(databaseUrl: string, text: string): Promise<Record<string, unknown>[]> {
  const connection = new pg.Client({ connectionString: databaseUrl });
  await connection.connect();
  try {
    return (await connection.query<Record<string, unknown>>(text)).rows;
  } finally {
    await connection.end();
  }
}
