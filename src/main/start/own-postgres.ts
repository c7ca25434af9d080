import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openTerminal, StartError, takeDataDir } from '@fernpost/local-stack';
import { keptSecrets } from './secrets.ts';
import { pickPostgres } from './servers.ts';
import type { StartConfig } from './settings.ts';

/**
 * Runs the Postgres that `npm start` has made in DATA_DIR, for as long as the work with its address takes.
 * @throws StartError where there is none, or `npm start` is running
 */
export async function withOwnPostgres(config: StartConfig, work: (url: string) => Promise<void>): Promise<void> {
  const { DATA_DIR: dataDir } = config;
  if (!existsSync(join(dataDir, 'postgres')))
    throw new StartError(`${dataDir} has no Postgres of npm start: set DATA_DIR to its data, or DATABASE_URL.`);
  const terminal = openTerminal();
  const record = await takeDataDir(dataDir, terminal.line);
  try {
    const context = { config, terminal, signal: new AbortController().signal };
    const { address, part } = await pickPostgres(context, keptSecrets(dataDir));
    const running = await part?.start();
    if (running !== undefined) record.started('postgres', running.pid);
    try {
      await work(address);
    } finally {
      await running?.stop(10_000);
    }
  } finally {
    record.end();
  }
}
