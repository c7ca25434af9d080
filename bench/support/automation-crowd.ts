import type { ChildProcess } from 'node:child_process';
import { track } from '../../src/contacts/events/service.ts';
import { newId } from '../../src/lib/ids.ts';
import { pause } from '../../src/lib/time.ts';
import { anAutomation } from '../../test/support/automation-fixtures.ts';
import { type Bench, countOf, median, memoryMb, people, seconds, tell, until } from './automation-bench.ts';
import { cpuOfServers, cpuOfTree } from './processes.ts';

const waiting = Number(process.env.BENCH_WAITING ?? 10_000);
const rounds = Number(process.env.BENCH_ROUNDS ?? 1);
const timeoutSeconds = 86_400;
// As many calls under way as the outbox has.
const callsAtOnce = 16;
const sampled = 50;

type Processors = Readonly<Record<string, number>>;

interface Crowd {
  /** Milliseconds until all were inside, and from the first event or signal until all had moved. */
  insideMs: number;
  movedMs: number;
  /** Milliseconds of processor time of each process for each that gets in, and for each that moves on. */
  cpu: { inside: Processors; moved: Processors };
  /** Megabytes of the worker before, with them inside, at the end, and the most that was seen. */
  memory: { before: number; inside: number; end: number; most: number };
  /** The average size of a history. */
  history: { events: number; tasks: number; late: number };
  /** The 99th of 100 calls of track in milliseconds, while nothing moves and while they do. */
  track: { quiet: number; moving: number };
}

/** Measures many waiting runs, and how soon all of them move on after one event each, beside bare workflows that wait, in turns. */
export async function crowd(bench: Bench): Promise<void> {
  const ratios: { inside: number; moved: number; cpu: number }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const floor = await bareCrowd(bench);
    const { told, ...ours } = await ourCrowd(bench, round);
    console.log(`\n${waiting.toLocaleString('en')} waiting executions, one event each`);
    say('floor, bare workflows that wait for a signal', floor);
    say('Fernpost', ours);
    console.log(`    events stored and routed in ${seconds(told)}`);
    const [inside, moved] = [floor.insideMs / ours.insideMs, floor.movedMs / ours.movedMs];
    ratios.push({ inside, moved, cpu: sum(floor.cpu.inside) / sum(ours.cpu.inside) });
    console.log(`  ratio ${inside.toFixed(2)} getting in, ${moved.toFixed(2)} moving on (goals 0.9 and 0.8)`);
  }
  const of = (name: 'inside' | 'moved' | 'cpu') => median(ratios.map((ratio) => ratio[name])).toFixed(2);
  console.log(
    `\nMedian of ${rounds}: ${of('inside')} getting in, ${of('moved')} moving on; by processor time ${of('cpu')} in`,
  );
}

function say(name: string, { insideMs, movedMs, cpu, memory, history, track: calls }: Crowd): void {
  console.log(`  ${name}: all inside after ${seconds(insideMs)} (${perSecond(insideMs)}/s), ${processors(cpu.inside)}`);
  console.log(
    `    all moved ${seconds(movedMs)} after the first event (${perSecond(movedMs)}/s), ${processors(cpu.moved)}`,
  );
  console.log(
    `    memory of the worker ${memory.before} MB before, ${memory.inside} MB with them, ${memory.end} MB at the end, never above ${memory.most} MB (goal 520 with 10,000)`,
  );
  console.log(
    `    a history: ${history.events.toFixed(1)} events, ${history.tasks.toFixed(2)} tasks, ${history.late.toFixed(2)} of them too late`,
  );
  console.log(
    `    track, 99th of 100: ${calls.quiet.toFixed(1)} ms before, ${calls.moving.toFixed(1)} ms while they move`,
  );
}

function processors(cpu: Processors): string {
  const parts = Object.entries(cpu).map(([name, ms]) => `${name} ${ms.toFixed(1)}`);
  return `processor time of each ${sum(cpu).toFixed(1)} ms: ${parts.join(', ')}`;
}

function sum(cpu: Processors): number {
  return Object.values(cpu).reduce((all, ms) => all + ms, 0);
}

/** Measures work by the processor time of the servers, of the worker that does it, and of this process, which starts those of the floor. */
async function spent({ store }: Bench, worker: ChildProcess, work: () => Promise<void>): Promise<Processors> {
  const now = async () => ({
    ...(await cpuOfServers(store.db)),
    worker: cpuOfTree(worker.pid ?? 0),
    starter: process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6,
  });
  const before: Record<string, number> = await now();
  await work();
  const after = await now();
  return Object.fromEntries(
    Object.entries(after).map(([name, all]) => [name, (1000 * (all - (before[name] ?? 0))) / waiting]),
  );
}

async function bareCrowd(bench: Bench): Promise<Crowd> {
  const { store, temporal, queuePrefix, floor } = bench;
  const memory = watchMemory(() => memoryMb(floor));
  const ids = Array.from({ length: waiting }, () => newId());
  await store.db.count('insert into bare_runs (id) select * from unnest($1::uuid[])', [ids]);
  const { workflow } = temporal.client;
  const idOf = (id: string) => `bare/${id}`;
  const reached = 'select count(*)::int as count from bare_runs where step = $1 and id = any ($2)';
  let started = performance.now();
  const inside = await spent(bench, floor, async () => {
    await eachOf(ids, (id) =>
      workflow.start('bareWaiting', {
        workflowId: idOf(id),
        taskQueue: `${queuePrefix}-bare`,
        args: [{ id, timeoutMs: timeoutSeconds * 1000 }],
      }),
    );
    await until(store, reached, [1, ids], waiting, 200);
  });
  const insideMs = performance.now() - started;
  memory.inside();
  const quiet = await trackFor(bench, pause(3_000));
  started = performance.now();
  const move = async () => {
    await eachOf(ids, (id) => workflow.getHandle(idOf(id)).signal('go'));
    await until(store, reached, [2, ids], waiting, 200);
  };
  let moving = Number.NaN;
  const moved = await spent(bench, floor, async () => {
    moving = await trackFor(bench, move());
  });
  const movedMs = performance.now() - started;
  const history = await histories(temporal, ids.map(idOf));
  return { insideMs, movedMs, cpu: { inside, moved }, memory: memory.end(), history, track: { quiet, moving } };
}

async function ourCrowd(bench: Bench, round: number): Promise<Crowd & { told: number }> {
  const { db } = bench.store;
  const [began, event] = [`crowd.${round}.began`, `crowd.${round}.event`];
  const automation = await anAutomation(db, bench.projectId, {
    event: began,
    steps: { wait: ['WAIT_FOR_EVENT', { eventName: event, timeout: timeoutSeconds }], out: ['EXIT'] },
  });
  const memory = watchMemory(() => memoryMb(bench.worker));
  const contacts = await people(bench, waiting);
  let started = performance.now();
  const inside = await spent(bench, bench.worker, async () => {
    await tell(bench, contacts, began);
    await until(bench.store, countOf, [automation.id, 'WAITING'], waiting, 200);
  });
  const insideMs = performance.now() - started;
  memory.inside();
  console.log(`  ${waiting.toLocaleString('en')} are inside after ${seconds(insideMs)}; now one event each`);
  const quiet = await trackFor(bench, pause(3_000));
  started = performance.now();
  let [told, moving] = [Number.NaN, Number.NaN];
  const moved = await spent(bench, bench.worker, async () => {
    await tell(bench, contacts, event);
    told = performance.now() - started;
    moving = await trackFor(bench, until(bench.store, countOf, [automation.id, 'EXITED'], waiting, 200));
  });
  const movedMs = performance.now() - started;
  const ids = contacts.map((contact) => `automation/${automation.id}/${contact}/1`);
  const history = await histories(bench.temporal, ids);
  return { insideMs, movedMs, cpu: { inside, moved }, memory: memory.end(), history, told, track: { quiet, moving } };
}

async function eachOf(ids: readonly string[], call: (id: string) => Promise<unknown>): Promise<void> {
  const left = [...ids];
  await Promise.all(
    Array.from({ length: callsAtOnce }, async () => {
      for (let id = left.pop(); id !== undefined; id = left.pop()) await call(id);
    }),
  );
}

/** Tracks an event of another contact every 20 ms until something has happened; the 99th of 100 in milliseconds. */
async function trackFor({ store, projectId }: Bench, happened: Promise<unknown>): Promise<number> {
  const times: number[] = [];
  let isOver = false;
  void happened.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    const started = performance.now();
    const email = `visitor-${times.length % 500}@example.com`;
    await track((work) => work(store.db), projectId, { email, event: 'page.viewed', data: { page: times.length } });
    times.push(performance.now() - started);
    await pause(20);
  }
  await happened;
  return times.sort((one, other) => one - other)[Math.floor(times.length * 0.99)] ?? Number.NaN;
}

function watchMemory(now: () => number) {
  const before = now();
  let [inside, most] = [before, before];
  const watching = setInterval(() => {
    most = Math.max(most, now());
  }, 500);
  return {
    inside() {
      inside = now();
    },
    end() {
      clearInterval(watching);
      const end = now();
      return { before, inside, end, most: Math.max(most, inside, end) };
    },
  };
}

/** Reads the sizes of some histories; a task that no worker took in time is in them once more. */
async function histories({ client }: Bench['temporal'], ids: readonly string[]): Promise<Crowd['history']> {
  const some = ids.filter((_, n) => n % Math.ceil(ids.length / sampled) === 0);
  const sum = { events: 0, tasks: 0, late: 0 };
  for (const id of some) {
    const { events } = await client.workflow.getHandle(id).fetchHistory();
    for (const event of events ?? []) {
      sum.events += 1 / some.length;
      if (event.workflowTaskScheduledEventAttributes) sum.tasks += 1 / some.length;
      if (event.workflowTaskTimedOutEventAttributes) sum.late += 1 / some.length;
    }
  }
  return sum;
}

function perSecond(ms: number): string {
  return ((1000 * waiting) / ms).toFixed(0);
}
