import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheFolder, findProgram, runCommand } from '@fernpost/local-stack';

/** The programs of Temporal's production server. */
export interface ServerPrograms {
  version: string;
  server: string;
  /** Makes and upgrades its tables. */
  sqlTool: string;
  /** Where the scripts of its tables for Postgres are. */
  schema: string;
}

const moduleFolder = fileURLToPath(new URL('.', import.meta.url));
const fallbackCache = fileURLToPath(new URL('../../.cache', import.meta.url));
const packages = { server: 'go.temporal.io/server/cmd/server', 'sql-tool': 'go.temporal.io/server/cmd/tools/sql' };
const buildMs = 30 * 60_000;

/** Builds the server that `go.mod` beside this file pins, once; answers the programs. Needs Go and its module proxy. */
export async function buildTemporalServer(say: (line: string) => void): Promise<ServerPrograms> {
  const go = findProgram('go', process.env, ['/usr/local/go/bin', '/opt/homebrew/bin']);
  if (go === null) throw new Error('Go is not installed: it builds the Temporal server (https://go.dev/dl)');
  const version = /go\.temporal\.io\/server v(\S+)/.exec(readFileSync(join(moduleFolder, 'go.mod'), 'utf8'))?.[1] ?? '';
  const folder = join(
    cacheFolder(process.env, fallbackCache),
    `temporal-server-${version}-${process.platform}-${process.arch}`,
  );
  mkdirSync(folder, { recursive: true });
  const { signal } = new AbortController();
  const options = { cwd: moduleFolder, signal, env: { ...process.env, CGO_ENABLED: '0', GOWORK: 'off' } };
  const run = async (args: string[]) => {
    const { failure, stdout, stderr } = await runCommand(go, args, { ...options, limitMs: buildMs });
    if (failure) throw new Error(`go ${args[0]} failed: ${stderr.trim().split('\n').at(-1) ?? failure}`);
    return stdout.trim();
  };
  for (const [name, path] of Object.entries(packages)) {
    const program = join(folder, name);
    if (existsSync(program)) continue;
    say(`Building the Temporal server ${version} (${name}), once; this takes some minutes`);
    const unfinished = `${program}.${process.pid}`;
    await run(['build', '-mod=readonly', '-trimpath', '-buildvcs=false', '-ldflags', '-s -w', '-o', unfinished, path]);
    renameSync(unfinished, program);
  }
  const source = await run(['list', '-mod=readonly', '-m', '-f', '{{.Dir}}', 'go.temporal.io/server']);
  return {
    version,
    server: join(folder, 'server'),
    sqlTool: join(folder, 'sql-tool'),
    schema: join(source, 'schema', 'postgresql', 'v12'),
  };
}
