import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  chooseServerUser,
  findPostgres,
  freePorts,
  openLog,
  openTerminal,
  postgresUrl,
  type RunningProcess,
  startPostgres,
} from '@fernpost/local-stack';
import { isFull } from './support/long.ts';
import { buildTemporalServer } from './temporal-server/build.ts';
import { historyShards, startProductionTemporal } from './temporal-server/server.ts';

// `npm run test:soak`: all tests, also what takes too long for `npm test`. Names of parts run those alone. Behind `--` come files for `tests`, and for
// `production-temporal` another command to run against the servers, such as a benchmark.
const root = fileURLToPath(new URL('..', import.meta.url));
const vitestRun = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--config', 'test/vitest.config.ts'];
const terminal = openTerminal();
const { signal } = new AbortController();

/** A part answers the exit code of what it ran. */
type Part = (command: readonly string[]) => Promise<number>;

const parts: Record<string, Part> = { tests: allTests, 'production-temporal': productionTemporal };

const [names, command] = split(process.argv.slice(2));
const unknown = names.filter((name) => !(name in parts));
if (unknown.length > 0) {
  console.error(`There is no part ${unknown.join(', ')}: name some of ${Object.keys(parts).join(', ')}`);
  process.exit(1);
}
let failed = 0;
for (const [name, run] of Object.entries(parts)) {
  if (names.length > 0 && !names.includes(name)) continue;
  console.log(`\n== ${name}`);
  const code = await run(command);
  if (code !== 0) failed += 1;
}
process.exit(failed);

/** All tests, with the files that `npm test` leaves out (see `long-tests.ts`). */
async function allTests(files: readonly string[]): Promise<number> {
  // Files that waited for it would each hold a worker, and on a busy machine run out of time.
  const built = await run([process.execPath, join(root, 'dashboard/build.ts')], {});
  if (built !== 0) return built;
  return run([process.execPath, ...vitestRun, ...files], { LONG_TESTS: '1' });
}

/** Runs a command in the project's folder and answers its exit code. */
async function run([program = process.execPath, ...args]: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const child = spawn(program, args, { cwd: root, stdio: 'inherit', env: { ...process.env, ...env } });
  const [code] = (await once(child, 'close')) as [number | null];
  return code ?? 1;
}

/** The end-to-end tests on Temporal's production server over Postgres: two databases, 16 shards, as in production. */
async function productionTemporal(command: readonly string[]): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'fernpost-soak-'));
  // As root, Postgres runs as another user, which has to get in.
  chmodSync(folder, 0o755);
  const running: RunningProcess[] = [];
  try {
    const programs = await buildTemporalServer(terminal.line);
    const user = await chooseServerUser(folder, terminal.line);
    const [port = 0] = await freePorts(1);
    const options = {
      binaries: await findPostgres(user),
      user,
      place: join(folder, 'postgres'),
      port,
      password: randomBytes(12).toString('hex'),
      durable: true,
      log: openLog(join(folder, 'postgres.log')),
      terminal,
      signal,
      removeWhenOrphaned: folder,
    };
    running.push(await startPostgres(options));
    const databaseUrl = postgresUrl(options, 'postgres');
    const server = await startProductionTemporal(programs, databaseUrl, folder);
    running.unshift(server.running);
    terminal.part('Temporal', `server ${programs.version}, ${historyShards} shards, over Postgres`, server.address);
    const report = '--outputFile.json=.cache/test-results-production-temporal.json';
    const tests = [report, 'test/e2e/automation.test.ts', 'test/e2e/campaign.test.ts'];
    return await run(command.length > 0 ? command : [process.execPath, ...vitestRun, ...tests], {
      TEST_DATABASE_URL: databaseUrl,
      TEST_TEMPORAL_ADDRESS: server.address,
      ...(isFull && { TEST_ONE_IN: '8' }),
      BENCH_DATABASE_URL: databaseUrl,
      BENCH_TEMPORAL_ADDRESS: server.address,
    });
  } finally {
    for (const server of running) await server.stop(10_000);
    rmSync(folder, { recursive: true, force: true });
  }
}

function split(args: readonly string[]): [names: string[], command: string[]] {
  const at = args.indexOf('--');
  return at === -1 ? [[...args], []] : [args.slice(0, at), args.slice(at + 1)];
}
