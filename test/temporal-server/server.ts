import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePorts, launch, openLog, type RunningProcess, runCommand, temporalEnv } from '@fernpost/local-stack';
import { openTemporal } from '../../temporal/connection.ts';
import type { ServerPrograms } from './build.ts';

/** A production server that runs. */
export interface ProductionTemporal {
  /** host:port of its frontend. */
  address: string;
  running: RunningProcess;
}

/** As many as in production: the number is fixed when the databases are made. */
export const historyShards = 16;

const databases = { temporal: 'temporal', temporal_visibility: 'visibility' } as const;
const services = ['frontend', 'history', 'matching', 'worker'] as const;
const startMs = 60_000;

/** Makes the two databases beside `databaseUrl` and starts the server over them; its files lie in `folder`. */
export async function startProductionTemporal(
  programs: ServerPrograms,
  databaseUrl: string,
  folder: string,
): Promise<ProductionTemporal> {
  const postgres = new URL(databaseUrl);
  for (const [database, schema] of Object.entries(databases)) await makeDatabase(programs, postgres, database, schema);
  // Two calls could answer one port twice. The table of members keeps ports as smallint, and these are below 32768.
  const free = await freePorts(2 * services.length);
  const ports: Ports = { grpc: free.slice(0, services.length), membership: free.slice(services.length) };
  const config = join(folder, 'config');
  mkdirSync(config, { recursive: true });
  const dynamicConfig = join(config, 'dynamic-config.yaml');
  copyFileSync(fileURLToPath(new URL('../../temporal/dynamic-config.yaml', import.meta.url)), dynamicConfig);
  writeFileSync(join(config, 'production.yaml'), configuration(postgres, ports, dynamicConfig), { mode: 0o600 });
  const log = openLog(join(folder, 'temporal-server.log'));
  const running = await launch({
    command: programs.server,
    args: ['--root', folder, '--config', 'config', '--env', 'production', 'start'],
    env: temporalEnv(),
    log,
    stopSignal: 'SIGTERM',
    orphanGraceSeconds: 2,
  });
  const address = `127.0.0.1:${ports.grpc[0]}`;
  await using temporal = openTemporal({ address, namespace: 'default', apiKey: null, tls: null });
  const serves = () =>
    temporal
      .within(2_000, () => temporal.connection.workflowService.getSystemInfo({}))
      .then(
        () => true,
        () => false,
      );
  for (const giveUpAt = Date.now() + startMs; !(await serves()); await sleep(200))
    if (running.hasExited() || Date.now() > giveUpAt) {
      await running.stop(3_000);
      throw new Error(`The Temporal server did not start:\n${log.tail(10).join('\n')}`);
    }
  return { address, running };
}

interface Ports {
  grpc: readonly number[];
  membership: readonly number[];
}

async function makeDatabase(
  { sqlTool, schema }: ServerPrograms,
  postgres: URL,
  database: string,
  scripts: string,
): Promise<void> {
  const env = {
    PATH: process.env.PATH,
    SQL_PLUGIN: 'postgres12',
    SQL_HOST: postgres.hostname,
    SQL_PORT: postgres.port || '5432',
    SQL_USER: decodeURIComponent(postgres.username),
    SQL_PASSWORD: decodeURIComponent(postgres.password),
    SQL_DATABASE: database,
  };
  const { signal } = new AbortController();
  for (const args of [
    ['create-database'],
    ['setup-schema', '-v', '0.0'],
    ['update-schema', '-d', join(schema, scripts, 'versioned')],
  ]) {
    const { failure, stderr, stdout } = await runCommand(sqlTool, args, { env, signal, limitMs: 120_000 });
    if (failure) throw new Error(`${args[0]} of ${database} failed: ${(stderr || stdout).trim().split('\n').at(-1)}`);
  }
}

// JSON is YAML.
function configuration(postgres: URL, ports: Ports, dynamicConfig: string): string {
  const store = (databaseName: string, maxConns: number) => ({
    sql: {
      pluginName: 'postgres12',
      databaseName,
      connectAddr: postgres.host,
      connectProtocol: 'tcp',
      user: decodeURIComponent(postgres.username),
      password: decodeURIComponent(postgres.password),
      maxConns,
      maxIdleConns: maxConns,
      maxConnLifetime: '1h',
    },
  });
  const rpc = (n: number) => ({
    rpc: { grpcPort: ports.grpc[n], membershipPort: ports.membership[n], bindOnLocalHost: true },
  });
  return JSON.stringify({
    log: { stdout: true, level: 'warn' },
    persistence: {
      defaultStore: 'main',
      visibilityStore: 'visibility',
      numHistoryShards: historyShards,
      datastores: { main: store('temporal', 15), visibility: store('temporal_visibility', 5) },
    },
    global: { membership: { maxJoinDuration: '30s', broadcastAddress: '127.0.0.1' } },
    services: Object.fromEntries(services.map((name, n) => [name, rpc(n)])),
    clusterMetadata: {
      enableGlobalNamespace: false,
      failoverVersionIncrement: 10,
      masterClusterName: 'active',
      currentClusterName: 'active',
      clusterInformation: {
        active: {
          enabled: true,
          initialFailoverVersion: 1,
          rpcName: 'frontend',
          rpcAddress: `127.0.0.1:${ports.grpc[0]}`,
        },
      },
    },
    dcRedirectionPolicy: { policy: 'noop' },
    archival: { history: { state: 'disabled' }, visibility: { state: 'disabled' } },
    namespaceDefaults: { archival: { history: { state: 'disabled' }, visibility: { state: 'disabled' } } },
    dynamicConfigClient: { filepath: dynamicConfig, pollInterval: '10s' },
  });
}
