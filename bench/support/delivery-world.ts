import { type Config, readConfig } from '../../src/lib/config/config.ts';
import { newId } from '../../src/lib/ids.ts';
import { createFirstProject, type FirstProjectFacts } from '../../src/main/projects/first-project.ts';
import type { Store } from '../../src/store/orm.ts';
import { openTemporal } from '../../temporal/connection.ts';
import { prepareNamespace } from '../../temporal/setup.ts';
import { type Child, startChild } from './child.ts';
import { benchServices, benchStore } from './services.ts';

/** A project, a connection of the benchmark's own, and a sink that stands for the provider. */
export interface DeliveryWorld {
  databaseUrl: string;
  config: Config;
  store: Store;
  project: FirstProjectFacts;
  sink: Child;
  /** Starts a file of this folder as a process that ends with the benchmark. */
  start(file: string, args: string[]): Promise<Child>;
}

/** Measures delivery on servers of its own, without limits on rates unless `settings` has them. The sink answers after `sinkDelayMs`. */
export async function inDeliveryWorld(
  {
    sinkDelayMs = 0,
    logLevel = 'warn',
    settings = {},
    sharedMegabytes,
  }: { sinkDelayMs?: number; logLevel?: string; settings?: NodeJS.ProcessEnv; sharedMegabytes?: number },
  measure: (world: DeliveryWorld) => Promise<void>,
): Promise<void> {
  await using services = await benchServices({ temporal: true, sharedMegabytes });
  const { databaseUrl, temporalAddress } = services;
  await using temporal = openTemporal({ address: temporalAddress, namespace: 'default', apiKey: null, tls: null });
  await prepareNamespace(temporal);
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: temporalAddress,
    TEMPORAL_TASK_QUEUE: `bench-${newId().slice(-6)}`,
    RATE_LIMIT_PER_MINUTE: '0',
    SEND_RATE_PER_PROJECT: '0',
    LOG_LEVEL: logLevel,
    ...settings,
  };
  const config = readConfig(env);
  const project = await createFirstProject(config);
  if (project === null) throw new Error('The database of a benchmark must be empty');
  const children: Child[] = [];
  const start = async (file: string, args: string[]) => {
    const child = await startChild(file, args, env);
    children.push(child);
    return child;
  };
  const store = await benchStore(databaseUrl, 2);
  try {
    const sink = await start('./campaign-child.ts', ['sink', String(sinkDelayMs)]);
    env.POSTMARK_API_URL = sink.url;
    await measure({ databaseUrl, config, store, project, sink, start });
  } finally {
    for (const { child } of children) child.kill();
    await store.close();
  }
}

/** A project and the process whose API it calls. */
interface Caller {
  api: Child;
  project: FirstProjectFacts;
}

/** Calls the API with the project's key, by POST where there is a body. Answers the text. @throws when it refuses */
export async function askApi({ api, project }: Caller, path: string, body?: object): Promise<string> {
  const answer = await fetch(`${api.url}${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${project.secretKey}`, 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${text}`);
  return text;
}

/** Posts to the API as `askApi` does. Answers the `data` of what it says. */
export async function post(caller: Caller, path: string, body: object): Promise<{ id: string }> {
  return (JSON.parse(await askApi(caller, path, body)) as { data: { id: string } }).data;
}
