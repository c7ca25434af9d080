import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type ClientRequest, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePorts } from '@fernpost/local-stack';
import { programEnv } from './program-env.ts';

const megabyte = 1024 * 1024;

/** An API process of its own, whose memory can be measured. */
export interface ApiProcess extends AsyncDisposable {
  url: string;
  /** Bytes of memory that the process has now. */
  memory(): number;
  /** Whether the process still runs. */
  lives(): boolean;
}

/** Starts `npm run api` with these settings and resolves once it serves. */
export async function apiProcess(settings: Record<string, string>): Promise<ApiProcess> {
  const [port] = await freePorts(1);
  const url = `http://127.0.0.1:${port}`;
  const child: ChildProcess = spawn(
    process.execPath,
    [fileURLToPath(new URL('../../src/main/api.ts', import.meta.url))],
    {
      env: {
        ...programEnv(),
        NODE_ENV: 'test',
        LOG_LEVEL: 'warn',
        PORT: String(port),
        ...settings,
      },
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  const ended = once(child, 'exit');
  const lives = () => child.exitCode === null && child.signalCode === null;
  while ((await healthOf(url)) !== 200) {
    if (!lives()) throw new Error(`the API ended with ${child.exitCode} before it served`);
    await pause(100);
  }
  return {
    url,
    memory() {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
      return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1024;
    },
    lives,
    async [Symbol.asyncDispose]() {
      if (lives()) child.kill('SIGKILL');
      await ended;
    },
  };
}

/** The status of `GET /health`, or null when nobody answers. */
export async function healthOf(url: string): Promise<number | null> {
  try {
    const answer = await fetch(`${url}/health`);
    await answer.text();
    return answer.status;
  } catch {
    return null;
  }
}

/** A body that does harm when it is parsed or kept. */
interface HostileBody {
  bytes: number;
  /** Whether its length is announced. */
  declared: boolean;
  pieces(): Generator<Buffer>;
}

const repeated = (text: string, bytes: number) => Buffer.from(text.repeat(Math.ceil(bytes / text.length)));

function body(start: string, filling: string, end: string, bytes: number, declared: boolean): HostileBody {
  const head = Buffer.from(start);
  const piece = repeated(filling, Math.min(bytes, 256 * 1024));
  const tail = Buffer.from(end);
  const pieces = Math.max(1, Math.floor(bytes / piece.length));
  return {
    bytes: head.length + pieces * piece.length + tail.length,
    declared,
    *pieces() {
      yield head;
      for (let sent = 0; sent < pieces; sent++) yield piece;
      yield tail;
    },
  };
}

/** Bodies that have ended or frozen the API before: many values, many levels, without end, and many that are just small enough. */
function hostileBodies(bytes: number): HostileBody[] {
  const large = Math.floor(bytes / 4);
  const many = Math.min(100, Math.ceil(bytes / megabyte));
  const login = '{"email":"ada@example.com","password":"';
  return [
    body('{"email":"ada@example.com","z":[', '{},', '{}]}', large, true),
    body('{"email":"ada@example.com","z":[', '{},', '{}]}', large, false),
    body('', '[', '', large, true),
    ...Array.from({ length: 8 }, () =>
      body('{"Message":"', '\\u0041', '"}', Math.min(large / 8, 2 * megabyte - 1_000), true),
    ),
    ...Array.from({ length: many }, () => body(login, 'x', '"}', Math.min(large / 100, 15_000), false)),
    ...Array.from({ length: many }, () => body('{"z":[', '{},', '{}]}', Math.min(large / 100, 15_000), true)),
  ];
}

/** The worst body of a request with a key that is parsed: as large as it may be, with nearly as many values as it may have. */
export function largestKeyedBody(from: string): HostileBody {
  const start = `{"to":"ada@example.com","from":"${from}","subject":"s","body":"b","data":{"z":[${'{},'.repeat(240_000)}{}],"text":"`;
  return body(start, 'x', '"}}', 40 * megabyte, true);
}

/** Sends a body as fast as it is taken; the status of the answer, or null when the connection broke. */
export function send(
  url: string,
  method: string,
  hostile: HostileBody,
  headers: Record<string, string> = {},
): Promise<number | null> {
  return new Promise((resolve) => {
    const sent = request(url, {
      method,
      headers: {
        ...headers,
        'content-type': 'application/json',
        ...(hostile.declared ? { 'content-length': hostile.bytes } : { 'transfer-encoding': 'chunked' }),
      },
    });
    sent.once('response', (response) => {
      response.resume();
      response.once('close', () => resolve(response.statusCode ?? null));
    });
    sent.once('error', () => resolve(null));
    void (async () => {
      for (const piece of hostile.pieces()) {
        if (sent.destroyed) return;
        if (!sent.write(piece)) await drained(sent);
      }
      sent.end();
    })().catch(() => resolve(null));
  });
}

function drained(sent: ClientRequest): Promise<void> {
  return new Promise((resolve) => {
    const over = () => {
      sent.off('drain', over).off('close', over);
      resolve();
    };
    sent.on('drain', over).on('close', over);
  });
}

/** What an attack did. */
export interface AttackReport {
  /** Most memory above what the process had before, in bytes. */
  growth: number;
  /** Slowest answer of `/health`, in milliseconds; null when one did not come. */
  slowestHealth: number | null;
  /** How often each status was answered. */
  statuses: Record<string, number>;
}

/** Sends hostile bodies to a route, several at a time, and watches memory and health meanwhile. */
export async function attack(
  api: ApiProcess,
  { method, path }: { method: string; path: string },
  bytes: number,
  parallel: number,
  normal: number,
): Promise<AttackReport> {
  const report: AttackReport = { growth: 0, slowestHealth: 0, statuses: {} };
  const bodies = hostileBodies(bytes);
  let over = false;
  const watch = async () => {
    while (!over) {
      report.growth = Math.max(report.growth, api.memory() - normal);
      const before = performance.now();
      const healthy = (await healthOf(api.url)) === 200;
      report.slowestHealth =
        healthy && report.slowestHealth !== null ? Math.max(report.slowestHealth, performance.now() - before) : null;
      await pause(20);
    }
  };
  const knock = async () => {
    for (let next = bodies.shift(); next !== undefined; next = bodies.shift()) {
      const status = String(await send(`${api.url}${path}`, method, next));
      report.statuses[status] = (report.statuses[status] ?? 0) + 1;
    }
  };
  const watching = watch();
  await Promise.all(Array.from({ length: parallel }, knock));
  over = true;
  await watching;
  return report;
}
