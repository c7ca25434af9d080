import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePorts } from '@fernpost/local-stack';
import { pause } from '../src/lib/time.ts';
import { anAutomation } from '../test/support/automation-fixtures.ts';
import { countOf, people, tell, until } from './support/automation-bench.ts';
import { runLoad } from './support/load.ts';
import { cpuOfTree, pssMb, treeOf } from './support/processes.ts';
import { benchStore } from './support/services.ts';

const idleSeconds = Number(process.env.BENCH_IDLE_SECONDS ?? 30);
const loadSeconds = Number(process.env.BENCH_SECONDS ?? 60);
const waiting = Number(process.env.BENCH_WAITING ?? 1_000);
const longestStartMs = 120_000;
const root = fileURLToPath(new URL('..', import.meta.url));

/** A service that `npm start` runs. */
interface Service {
  child: ChildProcess;
  dataDir: string;
  databaseUrl: string;
  url: string;
  /** From the start of the process until it says that it is ready. */
  readyMs: number;
}

/** The content of first-project.json. */
interface FirstProject {
  projectId: string;
  publicKey: string;
  secretKey: string;
  sender: string;
}

/**
 * How much memory `npm start` takes, by process, and how long it takes to be ready. PSS counts what processes share once.
 * BENCH_SECONDS is the length of the load, half of it `/v1/track` and half `/v1/send`; BENCH_WAITING how many automations wait; 0 leaves either out.
 */
export async function benchFootprint(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'fernpost-footprint-'));
  let service: Service | null = null;
  try {
    service = await start(folder);
    console.log(`\nnpm start is ready after ${(service.readyMs / 1000).toFixed(1)} s with empty data`);
    await pause(10_000);
    await stop(service);
    service = await start(folder);
    console.log(`and after ${(service.readyMs / 1000).toFixed(1)} s again\n`);
    const columns: [string, Map<string, number>][] = [];
    const note = (name: string, running: Service) => columns.push([name, memoryOf(running)]);
    await pause(idleSeconds * 1_000);
    const before = cpuOf(service);
    await pause(10_000);
    note('idle', service);
    console.log(`idle, it takes ${((cpuOf(service) - before) * 10).toFixed(1)} % of a core`);
    if (loadSeconds > 0) {
      await load(service);
      note('after load', service);
      await pause(60_000);
      note('a minute later', service);
    }
    if (waiting > 0) {
      await crowd(service);
      note(`${waiting} waiting`, service);
    }
    print(columns);
  } finally {
    if (service) await stop(service);
    rmSync(folder, { recursive: true, force: true });
  }
}

async function start(folder: string): Promise<Service> {
  const [port = 0, sandbox = 0, temporal = 0, ui = 0, postgres = 0, smtp = 0] = await freePorts(6);
  const dataDir = join(folder, 'data');
  const started = performance.now();
  const child = spawn(process.execPath, ['src/main/start.ts'], {
    cwd: root,
    env: {
      ...process.env,
      // As `npm start` sets it.
      NODE_COMPILE_CACHE: join(root, 'dist/compile-cache'),
      DATA_DIR: dataDir,
      PORT: String(port),
      SANDBOX_PORT: String(sandbox),
      TEMPORAL_PORT: String(temporal),
      TEMPORAL_UI_PORT: String(ui),
      POSTGRES_PORT: String(postgres),
      SMTP_IN_PORT: String(smtp),
      RATE_LIMIT_PER_MINUTE: '0',
      SEND_RATE_PER_PROJECT: '0',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  const ready = new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk;
      if (said.includes('is ready after')) resolve();
    });
    child.once('exit', (code) => reject(new Error(`npm start ended with ${code}:\n${said}`)));
    setTimeout(() => reject(new Error(`npm start is not ready:\n${said}`)), longestStartMs).unref();
  });
  await ready;
  const { postgresPassword } = JSON.parse(readFileSync(join(dataDir, 'secrets.json'), 'utf8')) as {
    postgresPassword: string;
  };
  return {
    child,
    dataDir,
    url: `http://127.0.0.1:${port}`,
    databaseUrl: `postgres://fernpost:${postgresPassword}@127.0.0.1:${postgres}/fernpost`,
    readyMs: performance.now() - started,
  };
}

async function stop({ child }: Service): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await ended;
}

function cpuOf({ child }: Service): number {
  return cpuOfTree(child.pid ?? 0);
}

const parts: readonly (readonly [string, RegExp])[] = [
  ['service', /src\/main\/service\.ts/],
  ['start', /src\/main\/start\.ts/],
  ['Temporal', /^\S*temporal/],
  ['Postgres', /postgres/],
];

/** Megabytes by part of the service; what is none of them is `other`. */
function memoryOf({ child }: Service): Map<string, number> {
  const sums = new Map(parts.map(([name]) => [name, 0]));
  for (const { pid } of treeOf(child.pid ?? 0)) {
    const path = `/proc/${pid}/cmdline`;
    const command = existsSync(path) ? readFileSync(path, 'utf8').replaceAll('\0', ' ') : '';
    const name = parts.find(([, pattern]) => pattern.test(command))?.[0] ?? 'other';
    sums.set(name, (sums.get(name) ?? 0) + pssMb(pid));
  }
  return sums;
}

async function load(service: Service): Promise<void> {
  const project = JSON.parse(readFileSync(join(service.dataDir, 'first-project.json'), 'utf8')) as FirstProject;
  for (const kind of ['track', 'send'] as const) {
    const { requestsPerSecond, failures } = await runLoad({
      url: service.url,
      path: `/v1/${kind}`,
      authorization: `Bearer ${kind === 'track' ? project.publicKey : project.secretKey}`,
      kind,
      from: project.sender,
      connections: 50,
      seconds: loadSeconds / 2,
    });
    console.log(`${kind}: ${requestsPerSecond.toFixed(0)} requests/s, ${failures} failed`);
  }
}

async function crowd(service: Service): Promise<void> {
  const { projectId } = JSON.parse(readFileSync(join(service.dataDir, 'first-project.json'), 'utf8')) as FirstProject;
  await using store = await benchStore(service.databaseUrl, 2);
  const automation = await anAutomation(store.db, projectId, {
    event: 'crowd.began',
    steps: { wait: ['WAIT_FOR_EVENT', { eventName: 'crowd.event', timeout: 86_400 }], out: ['EXIT'] },
  });
  const contacts = await people({ store, projectId }, waiting);
  await tell({ store, projectId }, contacts, 'crowd.began');
  await until(store, countOf, [automation.id, 'WAITING'], waiting, 200);
}

function print(columns: readonly [string, Map<string, number>][]): void {
  console.log(`\nMB (PSS)      ${columns.map(([name]) => name.padStart(16)).join('')}`);
  const names = [...new Set(columns.flatMap(([, sums]) => [...sums.keys()]))];
  const row = (name: string, of: (sums: Map<string, number>) => number) =>
    console.log(`  ${name.padEnd(12)}${columns.map(([, sums]) => String(Math.round(of(sums))).padStart(16)).join('')}`);
  for (const name of names) row(name, (sums) => sums.get(name) ?? 0);
  row('all', (sums) => [...sums.values()].reduce((sum, one) => sum + one, 0));
}

if (import.meta.main) await benchFootprint();
