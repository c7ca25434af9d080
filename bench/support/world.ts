import { type Config, readConfig } from '../../src/lib/config/config.ts';
import { createFirstProject, type FirstProjectFacts } from '../../src/main/projects/first-project.ts';
import type { Database } from '../../src/store/sql.ts';
import { benchServices, benchStore } from './services.ts';

/** Postgres with an empty project, and what an API process needs to serve it. */
export interface BenchWorld extends AsyncDisposable {
  config: Config;
  project: FirstProjectFacts;
  db: Database;
}

/** Starts Postgres without Temporal, and makes a project in it. @throws where BENCH_DATABASE_URL names a database that is not empty */
export async function benchWorld(): Promise<BenchWorld> {
  await using stack = new AsyncDisposableStack();
  const services = stack.use(await benchServices({ temporal: false }));
  const config = readConfig({
    ...process.env,
    DATABASE_URL: services.databaseUrl,
    TEMPORAL_ADDRESS: services.temporalAddress,
    RATE_LIMIT_PER_MINUTE: '0',
    LOG_LEVEL: 'fatal',
  });
  const project = await createFirstProject(config);
  if (project === null) throw new Error('The database of a benchmark must be empty');
  const { db } = stack.use(await benchStore(services.databaseUrl, 2));
  const owned = stack.move();
  return { config, project, db, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
