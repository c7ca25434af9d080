import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  backOff,
  holdFor,
  holdSentence,
  mayCall,
  noteCall,
  reportOf,
  takeProbe,
} from '../../src/mail/engine/breaker.ts';
import { bucketCtes, bucketMade } from '../../src/mail/engine/throttle.ts';
import { sql } from '../../src/store/sql.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { aProject } from '../support/delivery-fixtures.ts';

let store: TestDatabase;
beforeAll(async () => {
  store = await testDatabase();
});
afterAll(() => store.close());
beforeEach(() => store.db.count('delete from provider_holds'));

/** Takes up to so many tokens, but for `reserve` of them, by a statement as claims are. `waitMs`: until the rest may go. */
async function takeTokens(id: string, wanted: number, { rate, reserve = 0 }: { rate: number; reserve?: number }) {
  await bucketMade(store.db, id);
  const row = await store.db.row<{ limits: number; granted: number; waitMs: number }>(sql`
    with ${bucketCtes(id, rate)},
    grants as (
      select *, least(${wanted}::int, floor(greatest(0, available - least(${reserve}::float8, burst / 2))))::int as granted from bucket),
    spent as (
      update send_buckets b set tokens = g.available - g.granted, refilled_at = g.at from grants g where b.id = g.id
      returning g.granted, ceil(1000 * least(${wanted}::int - g.granted, g.burst) / g.rate)::int as wait_ms)
    select (select count(*)::int from rate_limit) as limits, (select granted from spent) as granted,
      (select wait_ms from spent) as "waitMs"`);
  if (row === null || row.limits === 0) return { granted: wanted, waitMs: 0 };
  return { granted: row.granted, waitMs: row.waitMs };
}

const project = async (sendRate: number | null = null) => (await aProject(store.db, { sendRate })).id;

test('a new bucket is full, then grants what has flowed in and says how long the rest takes', async () => {
  const id = await project();
  const began = performance.now();
  expect(await takeTokens(id, 150, { rate: 100 })).toEqual({ granted: 150, waitMs: 0 });
  const next = await takeTokens(id, 150, { rate: 100 });
  const flowed = (performance.now() - began) / 10;
  expect(next.granted).toBeGreaterThanOrEqual(50);
  expect(next.granted).toBeLessThanOrEqual(Math.min(150, 50 + flowed));
  expect(next.waitMs).toBe((150 - next.granted) * 10);
});

test('many callers at once never get more than the bucket held and what flowed in meanwhile', async () => {
  const id = await project();
  const started = performance.now();
  const grants = await Promise.all(Array.from({ length: 60 }, () => takeTokens(id, 10, { rate: 50 })));
  const flowed = ((performance.now() - started) / 1000) * 50;
  const granted = grants.reduce((sum, grant) => sum + grant.granted, 0);
  expect(granted).toBeGreaterThanOrEqual(100);
  expect(granted).toBeLessThanOrEqual(100 + flowed);
  const bucket = await store.db.row<{ tokens: number }>('select tokens from send_buckets where id = $1', [id]);
  expect(bucket?.tokens).toBeGreaterThanOrEqual(0);
});

test('what a campaign must leave is there for transactional mail', async () => {
  const id = await project();
  const campaign = { rate: 100, reserve: 80 };
  const began = performance.now();
  expect(await takeTokens(id, 500, campaign)).toMatchObject({ granted: 120 });
  const { granted } = await takeTokens(id, 500, campaign);
  expect(granted).toBeLessThanOrEqual((performance.now() - began) / 10);
  expect(await takeTokens(id, 50, { rate: 100 })).toEqual({ granted: 50, waitMs: 0 });
});

test('a project can be set lower than the deployment, never higher; 0 is no limit', async () => {
  const slow = await project(5);
  expect(await takeTokens(slow, 1000, { rate: 100 })).toMatchObject({ granted: 10, waitMs: 2000 });
  const eager = await project(1_000_000);
  expect(await takeTokens(eager, 1000, { rate: 100 })).toMatchObject({ granted: 200 });
  expect(await takeTokens(await project(), 1_000_000, { rate: 0 })).toEqual({
    granted: 1_000_000,
    waitMs: 0,
  });
  expect(await takeTokens(await project(5), 1000, { rate: 0 })).toMatchObject({ granted: 10 });
});

const failed = { ok: false, reason: 'provider answers 503', afterMs: null, account: false } as const;
const refused = { ok: false, reason: 'provider answers 401', afterMs: null, account: true } as const;

test('two failures are patience, the third holds, and only calls in a row count', async () => {
  const note = (report: Parameters<typeof noteCall>[2]) => noteCall(store.db, 'p', report, false);
  await note(failed);
  await note(failed);
  await note({ ok: true });
  await note(failed);
  await note(failed);
  expect(await mayCall(store.db, 'p')).toEqual({ hold: null, probing: false });
  await note(failed);
  const hold = await holdFor(store.db, 'p');
  expect(hold?.reason).toBe('provider answers 503');
  expect(hold?.waitMs).toBeGreaterThan(500);
  expect(hold?.waitMs).toBeLessThanOrEqual(1000);
});

test('a named time to wait and a refused account hold at once, for as long as they say', async () => {
  await noteCall(store.db, 'limited', { ...failed, reason: 'provider answers 429', afterMs: 7000 }, false);
  expect((await holdFor(store.db, 'limited'))?.waitMs).toBeGreaterThan(6500);
  await noteCall(store.db, 'account', refused, false);
  expect((await holdFor(store.db, 'account'))?.waitMs).toBeGreaterThan(20_000);
  expect(await mayCall(store.db, 'another')).toEqual({ hold: null, probing: false });
});

test('calls already under way when a hold began neither lengthen nor end it', async () => {
  for (let n = 0; n < 3; n += 1) await noteCall(store.db, 'p', failed, false);
  const before = await holdFor(store.db, 'p');
  for (let n = 0; n < 8; n += 1) await noteCall(store.db, 'p', failed, false);
  await noteCall(store.db, 'p', { ok: true }, false);
  expect((await holdFor(store.db, 'p'))?.until).toBe(before?.until);
});

test('when its time has come exactly one caller probes; its answer ends or lengthens the hold', async () => {
  for (let n = 0; n < 3; n += 1) await noteCall(store.db, 'p', failed, false);
  const elapse = () => store.db.count("update provider_holds set held_until = clock_timestamp() - interval '1 ms'");
  const probes = async () => {
    const asked = await Promise.all(Array.from({ length: 9 }, () => takeProbe(store.db, 'p')));
    return asked.filter((hold) => hold === null);
  };
  expect(await probes()).toEqual([]);
  await elapse();
  expect(await mayCall(store.db, 'p')).toEqual({ hold: null, probing: true });
  expect(await probes()).toHaveLength(1);
  expect((await mayCall(store.db, 'p')).hold?.waitMs).toBeGreaterThan(1000);
  await noteCall(store.db, 'p', failed, true);
  const longer = await holdFor(store.db, 'p');
  expect(longer?.waitMs).toBeGreaterThan(1000);
  expect(longer?.waitMs).toBeLessThanOrEqual(2000);
  await elapse();
  expect(await probes()).toHaveLength(1);
  await noteCall(store.db, 'p', { ok: true }, true);
  expect(await holdFor(store.db, 'p')).toBeNull();
  expect(await mayCall(store.db, 'p')).toEqual({ hold: null, probing: false });
});

test('a probe that told nothing of the provider is free for the next caller at once', async () => {
  for (let n = 0; n < 3; n += 1) await noteCall(store.db, 'p', failed, false);
  await store.db.count("update provider_holds set held_until = clock_timestamp() - interval '1 ms'");
  expect(await takeProbe(store.db, 'p')).toBeNull();
  await noteCall(store.db, 'p', null, false);
  expect((await takeProbe(store.db, 'p'))?.waitMs).toBeGreaterThan(1000);
  await noteCall(store.db, 'p', null, true);
  expect(await takeProbe(store.db, 'p')).toBeNull();
});

test('the wait doubles from a second to a minute, spread by a quarter; a refused account waits minutes', () => {
  expect([1, 2, 3, 7, 40].map((n) => backOff(n, false, null, 0.999_999))).toEqual([1000, 2000, 4000, 60_000, 60_000]);
  expect([1, 2, 3].map((n) => backOff(n, false, null, 0))).toEqual([750, 1500, 3000]);
  expect(backOff(1, false, 45_000, 0.5)).toBe(45_000);
  expect([1, 2, 40].map((n) => backOff(n, true, null, 0))).toEqual([22_500, 45_000, 450_000]);
});

test('a call speaks for the provider when it failed as a whole or got through, not when one message was put off', () => {
  const accepted = { kind: 'accepted', messageId: 'm', at: '2026-03-01T10:00:00.000Z' } as const;
  const putOff = (scope: 'message' | 'call' | 'account') =>
    ({ kind: 'retry', reason: scope, afterMs: null, scope }) as const;
  expect(reportOf([accepted, putOff('call')])).toEqual({ ok: true });
  expect(reportOf([accepted, putOff('account')])).toEqual({
    ok: false,
    reason: 'account',
    afterMs: null,
    account: true,
  });
  expect(reportOf([putOff('call'), putOff('call')])).toMatchObject({ ok: false, account: false });
  expect(reportOf([{ kind: 'unknown', reason: 'lost' }])).toMatchObject({ ok: false, reason: 'lost' });
  expect(reportOf([{ kind: 'rejected', code: 300, reason: 'x', inactive: false }])).toEqual({ ok: true });
  expect(reportOf([putOff('message')])).toBeNull();
  expect(reportOf([])).toBeNull();
});

test('a hold reads as a sentence', () => {
  const hold = {
    reason: 'provider answers 429',
    since: '2026-03-01T10:41:10.000Z',
    until: '2026-03-01T10:46:59.000Z',
    waitMs: 1,
  };
  expect(holdSentence(hold, 41_200)).toBe(
    'held: provider answers 429 since 10:41 UTC, 41,200 waiting, next try 10:46 UTC',
  );
});
