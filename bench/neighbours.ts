import type { Mailer } from '@fernpost/mail-providers';
import { readConfig } from '../src/core/config/config.ts';
import { openStore } from '../src/core/database/orm.ts';
import { newId } from '../src/core/lib/ids.ts';
import { pause } from '../src/core/lib/time.ts';
import { composeQueued, createComposer } from '../src/sending/engine/compose.ts';
import { deliverPending } from '../src/sending/engine/pending.ts';
import { aProject, deliveryDeps, queueMany } from '../test/support/delivery-fixtures.ts';
import type { FakeMailer } from '../test/support/mailer.ts';
import { benchServices } from './support/services.ts';

const mails = Number(process.env.BENCH_MAILS ?? 60);
const everyMs = 100;
const providerMs = 20;

// Each asks for all the steps there are, in another way; the number makes each a template of its own.
const worst: readonly ((n: number) => string)[] = [
  (n) => `${n}{% for a in (1..300) %}{% for b in (1..300) %}{{ b | times: a | plus: ${n} }}{% endfor %}{% endfor %}`,
  (n) => `${n}${'{{ a | append: "x" | upcase }} '.repeat(4_000)}`,
  (n) => `${n}${'<table><tr><td>x</td></tr></table>'.repeat(6_000)}`,
  (n) => `${n}{% assign x = "a,b,c,d" | split: "," %}${'{% assign x = x | push: x %}'.repeat(60)}{{ x }}`,
  (n) => `${n}${'<a href="{{ unsubscribeUrl }}">{{ a }}</a>'.repeat(3_000)}`,
];

/** How long a project's mail waits for delivery beside a project with the worst templates, as a ratio to how long it waits alone. */
export async function benchNeighbours(): Promise<void> {
  await using services = await benchServices({ temporal: false });
  const store = await openStore({ url: services.databaseUrl, poolSize: 20, applicationName: 'fernpost-bench' }, []);
  const { db } = store;
  const config = readConfig({ ...process.env, DATABASE_URL: services.databaseUrl });
  const compose = createComposer(config, { warn: () => undefined });
  const taken = new Map<string, number>();
  const mailer = {
    name: 'bench',
    maxBatchMessages: 500,
    async send(_claim, messages) {
      const at = performance.now();
      for (const { emailId } of messages) taken.set(emailId, at);
      await pause(providerMs);
      return messages.map(() => ({ kind: 'accepted' as const, messageId: newId(), at: new Date().toISOString() }));
    },
    accepted: () => Promise.resolve(new Map()),
  } satisfies Pick<Mailer, 'name' | 'maxBatchMessages' | 'send' | 'accepted'>;
  const deps = deliveryDeps(db, mailer as unknown as FakeMailer, { compose: (mail) => composeQueued(compose, mail) });
  const stop = new AbortController();
  const running: Promise<void>[] = [];
  const work = async (projectId: string) => {
    for (let turn = 0; !stop.signal.aborted; turn += 1) {
      const run = { projectId, prefix: `${newId()}/${turn}/`, attempt: 1, stop: stop.signal };
      const { waitMs } = await deliverPending(deps, run);
      if (waitMs !== 0) await pause(20, stop.signal);
    }
  };
  try {
    const ours = await aProject(db, { name: 'Ours' });
    running.push(work(ours.id));
    const measure = async () => {
      const times: number[] = [];
      for (let n = 0; n < mails; n += 1) {
        const id = newId();
        const began = performance.now();
        await queueMany(db, ours, 1, { content: { subject: 'Hello', body: '<p>Hello {{ email }}</p>' } });
        const known = await db.row<{ id: string }>(
          'select id from emails where project_id = $1 order by created_at desc, id desc limit 1',
          [ours.id],
        );
        while (!taken.has(known?.id ?? id)) await pause(1);
        times.push((taken.get(known?.id ?? id) ?? began) - began);
        await pause(Math.max(0, everyMs - (performance.now() - began)));
      }
      return times.toSorted((a, b) => a - b);
    };
    await measure();
    const alone = await measure();
    const theirs = await aProject(db, { name: 'Theirs' });
    for (let n = 0; n < 600; n += 1)
      await queueMany(db, theirs, 1, { content: { subject: 'x', body: worst[n % worst.length]?.(n) ?? '' } });
    running.push(work(theirs.id));
    const beside = await measure();
    const done = await db.row<{ failed: number; all: number }>(
      `select count(*) filter (where status = 'FAILED')::int as failed, count(*) filter (where status <> 'PENDING')::int as all
       from emails where project_id = $1`,
      [theirs.id],
    );
    const at = (times: readonly number[], share: number) => times[Math.floor(times.length * share)] ?? 0;
    console.log(`\nNeighbours: ${mails} mails, one each ${everyMs} ms, beside 600 mails of hostile templates`);
    for (const [name, share] of [
      ['median', 0.5],
      ['95 %', 0.95],
    ] as const)
      console.log(
        `  ${name.padEnd(7)} alone ${at(alone, share).toFixed(1)} ms   beside ${at(beside, share).toFixed(1)} ms   ` +
          `ratio ${(at(beside, share) / at(alone, share)).toFixed(2)}`,
      );
    console.log(`  meanwhile ${done?.all} hostile mails were settled, ${done?.failed} of them FAILED`);
  } finally {
    stop.abort();
    await Promise.allSettled(running);
    await store.close();
  }
}

if (import.meta.main) await benchNeighbours();
