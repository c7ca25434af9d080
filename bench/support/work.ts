import { pause } from '../../src/lib/time.ts';
import type { Child } from './child.ts';
import type { DeliveryWorld } from './delivery-world.ts';
import { runLoad } from './load.ts';
import type { SinkCount } from './sink.ts';

const longestMs = 20 * 60_000;
const connections = 20;
const credentials = { user: 'bench', password: 'bench-password-of-reports' };

/** The settings by which an API knows the reports of the benchmark. */
export const reporterSettings = {
  POSTMARK_WEBHOOK_USER: credentials.user,
  POSTMARK_WEBHOOK_PASSWORD: credentials.password,
};
/** The `Authorization` of these reports. */
export const reporter = `Basic ${Buffer.from(`${credentials.user}:${credentials.password}`).toString('base64')}`;

type Working = Pick<DeliveryWorld, 'project' | 'sink' | 'store'> & { api: Child };

/** Sends so many mails by `/v1/send`, to `recipients` in turn, and waits until they have arrived. Answers how many. */
export async function sendMail(
  { api, sink, project }: Working,
  { mails, recipients }: { mails: number; recipients: number },
): Promise<number> {
  await sink.ask('reset');
  const load = await runLoad({
    url: api.url,
    path: '/v1/send',
    authorization: `Bearer ${project.secretKey}`,
    kind: 'reports',
    from: '',
    bodies: Array.from({ length: mails }, (_, n) =>
      JSON.stringify({
        to: `person${n % recipients}@example.com`,
        from: project.sender,
        subject: 'Your receipt',
        body: '<p>Thank you for being with us.</p>',
      }),
    ),
    connections,
    seconds: 0,
  });
  if (load.failures > 0) throw new Error(`${load.failures} requests failed`);
  await arrived(sink, mails);
  return mails;
}

/** Waits until the sink has them, and half a second more for the statement that settles the last batch. */
export async function arrived(sink: Child, count: number): Promise<void> {
  const started = performance.now();
  while ((await sink.ask<SinkCount>('count')).messages < count) {
    if (performance.now() - started > longestMs) throw new Error('The mail is not delivered');
    await pause(20);
  }
  await pause(500);
}

/**
 * Makes reports of the newest mails that they are delivered, and before that of every second one that it was opened. Returns what sends them
 * and answers how many they are: looking up the mails, in a history of any length, is no part of that.
 */
export async function preparedReports({ api, project, store }: Working, mails: number): Promise<() => Promise<number>> {
  const sent = await store.db.rows<{ id: string; message: string; to: string }>(
    `select id, message_id as message, to_address as to from emails
     where project_id = $1 and status = 'SENT' order by created_at desc limit $2`,
    [project.projectId, mails],
  );
  if (sent.length < mails) throw new Error(`Only ${sent.length} mails wait for a report`);
  const body = (mail: (typeof sent)[number], kind: object) =>
    JSON.stringify({
      ...kind,
      MessageID: mail.message,
      Recipient: mail.to,
      Metadata: { eid: mail.id, pid: project.projectId },
    });
  const now = new Date().toISOString();
  const bodies = [
    ...sent
      .filter((_, n) => n % 2 === 0)
      .map((mail) => body(mail, { RecordType: 'Open', ReceivedAt: now, FirstOpen: true })),
    ...sent.map((mail) => body(mail, { RecordType: 'Delivery', DeliveredAt: now })),
  ];
  return async () => {
    const load = await runLoad({
      url: api.url,
      path: '/webhooks/postmark',
      authorization: reporter,
      kind: 'reports',
      from: '',
      connections,
      seconds: 0,
      bodies,
    });
    if (load.failures > 0) throw new Error(`${load.failures} reports were not taken`);
    return bodies.length;
  };
}
