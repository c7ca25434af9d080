import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as v from 'valibot';
import { freePorts } from '../ports.ts';
import { openLog } from '../process/log-file.ts';
import { reasonOf } from '../terminal.ts';
import { devServerArguments } from './dev-server.ts';
import { cacheFolder, type TemporalSearch } from './temporal-search.ts';
import { launchDevServer, tablesOf } from './temporal-server.ts';

const Proofs = v.record(v.string(), v.object({ of: v.string(), tables: v.string() }));

/** The server of a working program is there within two or three seconds; this is for a machine that is busy with something else. */
const limitMs = 120_000;

/**
 * Proves that a program runs the development server with our flags by starting it on free ports with an empty database. What was
 * proven is kept beside the program's size, time and version, so that a later start need not do it again.
 * @returns the fingerprint of the tables that this server makes, or why it does not start
 */
export async function proveByStarting(
  path: string,
  version: string,
  search: Pick<TemporalSearch, 'env' | 'fallbackCache' | 'terminal' | 'signal'>,
): Promise<{ tables: string } | string> {
  const file = join(cacheFolder(search.env, search.fallbackCache), 'temporal-proofs.json');
  // TEMPORAL_CLI may be a name that is on the PATH.
  const { size, mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? { size: 0, mtimeMs: 0 };
  const flags = devServerArguments({ port: 0, uiPort: 0, databaseFile: '' });
  const of = createHash('sha256')
    .update([size, mtimeMs, version, ...flags].join('\n'))
    .digest('hex');
  const known = readProofs(file)[path];
  if (known?.of === of) return { tables: known.tables };
  const tables = await tablesOfNewServer(path, search);
  if (tables === null || typeof tables === 'string') return tables ?? 'its development server makes no database';
  keepProof(file, path, { of, ...tables });
  return tables;
}

async function tablesOfNewServer(
  path: string,
  { terminal, signal }: Pick<TemporalSearch, 'terminal' | 'signal'>,
): Promise<{ tables: string } | string | null> {
  const folder = mkdtempSync(join(tmpdir(), 'fernpost-temporal-'));
  try {
    const [port = 0, uiPort = 0] = await freePorts(2);
    const databaseFile = join(folder, 'temporal.db');
    const log = openLog(join(folder, 'temporal.log'));
    const options = { cli: { path }, port, uiPort, databaseFile, log, terminal, signal };
    const running = await launchDevServer(options, `checking ${path}`, limitMs);
    if ('gaveUp' in running) {
      const last = log.tail(1)[0]?.trim().slice(0, 200);
      return `its development server did not start (${running.why}${last ? `: ${last}` : ''})`;
    }
    await running.stop(3_000);
    const tables = tablesOf(databaseFile);
    return tables === null ? null : { tables };
  } catch (error) {
    if (signal.aborted) throw error;
    return reasonOf(error);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readProofs(file: string): v.InferOutput<typeof Proofs> {
  try {
    return v.parse(Proofs, JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return {};
  }
}

// Of two that write side by side one proof is lost, and made again by the next start.
function keepProof(file: string, path: string, proof: v.InferOutput<typeof Proofs>[string]): void {
  try {
    writeFileSync(`${file}.${process.pid}`, JSON.stringify({ ...readProofs(file), [path]: proof }, null, 2));
    renameSync(`${file}.${process.pid}`, file);
  } catch {
    // A cache that cannot be written costs the next start some seconds.
  }
}
