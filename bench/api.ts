import { type ChildProcess, fork } from 'node:child_process';
import { openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readConfig } from '../src/lib/config/config.ts';
import { createFirstProject, type FirstProjectFacts } from '../src/main/projects/first-project.ts';
import { type LoadOrder, type LoadResult, runLoad } from './support/load.ts';
import { cpuOfServers, cpuOfTree } from './support/processes.ts';
import { benchServices, benchStore } from './support/services.ts';

const seconds = Number(process.env.BENCH_SECONDS ?? 8);
const rounds = Number(process.env.BENCH_ROUNDS ?? 3);
const connections = 50;

/** Requests a second of `/v1/track` and `/v1/send`, each as a ratio to its floor in the same run. */
export async function benchApi(): Promise<void> {
  await using services = await benchServices({ temporal: false });
  const env = {
    ...process.env,
    DATABASE_URL: services.databaseUrl,
    TEMPORAL_ADDRESS: services.temporalAddress,
    RATE_LIMIT_PER_MINUTE: '100000000',
    LOG_LEVEL: 'info',
  };
  const project = await createFirstProject(readConfig(env));
  if (project === null) throw new Error('The database of a benchmark must be empty');
  const api = await startChild('./support/api-process.ts', [], env);
  const floor = await startChild('./support/floor-process.ts', [services.databaseUrl, project.projectId], env);
  const store = await benchStore(services.databaseUrl, 1);
  console.log(`\nAPI: ${connections} connections, ${seconds} s a run, ${rounds} rounds, Postgres as shipped`);
  try {
    for (const kind of ['track', 'send'] as const) {
      const floors: Run[] = [];
      const ours: Run[] = [];
      for (let round = 0; round < rounds; round++) {
        // Both start from empty tables each time, for indexes that grew would favour whoever comes first.
        for (const side of round % 2 === 0 ? (['floor', 'ours'] as const) : (['ours', 'floor'] as const)) {
          await store.db.rows('truncate contacts, events, emails, email_queue cascade');
          const order = orderFor(kind, side, side === 'floor' ? floor.url : api.url, project);
          await runLoad({ ...order, seconds: 1 });
          const { pid = 0 } = (side === 'floor' ? floor : api).child;
          const cpu = async () => ({ process: cpuOfTree(pid), ...(await cpuOfServers(store.db)) });
          const before: Record<string, number> = await cpu();
          const result = await runLoad(order);
          const after = Object.entries(await cpu());
          const micros = after.map(([name, value]) => [name, (1e6 * (value - (before[name] ?? 0))) / result.requests]);
          (side === 'floor' ? floors : ours).push({ ...result, micros: Object.fromEntries(micros) });
        }
      }
      print(kind, median(floors), median(ours));
    }
  } finally {
    api.child.kill();
    floor.child.kill();
    await store.close();
  }
}

function orderFor(kind: LoadOrder['kind'], side: 'floor' | 'ours', url: string, project: FirstProjectFacts): LoadOrder {
  return {
    url,
    path: side === 'floor' ? `/${kind}` : `/v1/${kind}`,
    authorization: `Bearer ${kind === 'track' ? project.publicKey : project.secretKey}`,
    kind,
    from: project.sender,
    connections,
    seconds,
  };
}

/** A load, and microseconds of processor time a request, of the process that answers and of Postgres. */
interface Run extends LoadResult {
  micros: Record<string, number>;
}

function print(kind: string, floor: Run, ours: Run): void {
  const line = (name: string, result: Run) =>
    `  ${name.padEnd(22)} ${result.requestsPerSecond.toFixed(0).padStart(7)} requests/s   median ${result.medianMs.toFixed(1)} ms   p99 ${result.p99Ms.toFixed(1)} ms   failures ${result.failures}   CPU µs: process ${result.micros.process?.toFixed(0)}, Postgres ${result.micros.Postgres?.toFixed(0)}`;
  console.log(line(`floor of ${kind}`, floor));
  console.log(line(`/v1/${kind}`, ours));
  console.log(`  ratio ${(ours.requestsPerSecond / floor.requestsPerSecond).toFixed(2)} (goal 0.6)`);
}

function median(results: Run[]): Run {
  const sorted = [...results].sort((one, other) => one.requestsPerSecond - other.requestsPerSecond);
  const middle = sorted[Math.floor(sorted.length / 2)];
  if (!middle) throw new Error('No run was made');
  return middle;
}

async function startChild(
  file: string,
  args: string[],
  env: NodeJS.ProcessEnv,
): Promise<{ child: ChildProcess; url: string }> {
  const log = openSync('/dev/null', 'w');
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), args, {
    env,
    stdio: ['ignore', log, 'inherit', 'ipc'],
  });
  const url = await new Promise<string>((resolve, reject) => {
    child.once('message', (message) => resolve((message as { url: string }).url));
    child.once('exit', (code) => reject(new Error(`${file} ended with ${code}`)));
  });
  return { child, url };
}

if (import.meta.main) await benchApi();
