import { NativeConnection, Worker } from '@temporalio/worker';
import { pino } from 'pino';
import { emailActivities } from '../../activities/mail.ts';
import { createPostmarkMailer } from '../../src/domains/providers/postmark/postmark.ts';
import { createSmtpMailer } from '../../src/domains/providers/smtp/smtp.ts';
import { createJournal } from '../../src/mail/providers/journal.ts';
import { entities } from '../../src/main/setup/database-settings.ts';
import { installTemporalRuntime } from '../../src/main/worker/temporal-workers.ts';
import { workflowBundle } from '../../src/main/worker/workflow-bundle.ts';
import { openStore } from '../../src/store/orm.ts';
import { taskQueue } from '../../temporal/commands.ts';
import { plainly } from './delivery-fixtures.ts';

/** What the process is told, as JSON in its first argument. */
export interface ChildOptions {
  databaseUrl: string;
  temporalAddress: string;
  queuePrefix: string;
  /** Where mail goes: to a sandbox, or to an SMTP server over so many connections. */
  sandboxUrl?: string;
  smtp?: { host: string; port: number; connections: number };
  lagMs: number;
}

/** A worker of the mail queue as a process of its own, for tests that kill it. Says `ready` when it polls. */
async function serve(options: ChildOptions): Promise<void> {
  const store = await openStore({ url: options.databaseUrl, poolSize: 10, applicationName: 'fernpost-test' }, entities);
  const log = { info: () => undefined, warn: () => undefined };
  const mailer = options.smtp
    ? createSmtpMailer({
        ...options.smtp,
        secure: false,
        requireTls: false,
        user: null,
        password: null,
        maxMessageBytes: 25 * 1024 * 1024,
        keyOf: async () => null,
        journal: createJournal(store.db, log),
        log,
      })
    : createPostmarkMailer({
        serverToken: 'sandbox',
        apiUrl: options.sandboxUrl ?? '',
        streams: { transactional: 'outbound', broadcast: 'broadcast' },
        log,
        timeouts: { send: 4_000 },
      });
  const activities = emailActivities({
    db: store.db,
    mailer,
    compose: plainly,
    log,
    rate: 0,
    lagMs: options.lagMs,
    stopping: new AbortController().signal,
  });
  installTemporalRuntime(pino({ level: 'silent' }), null);
  const worker = await Worker.create({
    connection: await NativeConnection.connect({ address: options.temporalAddress }),
    taskQueue: taskQueue(options.queuePrefix, 'mail'),
    workflowBundle: await workflowBundle(),
    activities,
    stickyQueueScheduleToStartTimeout: '1 second',
  });
  const running = worker.run();
  console.log('ready');
  await running;
}

await serve(JSON.parse(process.argv[2] ?? '{}') as ChildOptions);
