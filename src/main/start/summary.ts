import { join } from 'node:path';
import { shortPath } from '@fernpost/local-stack';
import type { FirstProject, Places } from './first-project.ts';

/** What the summary tells. */
export interface Summary {
  project: FirstProject | null;
  places: Places;
  /** Where mail is taken by SMTP. */
  smtp: string | null;
  /** Whether the dashboard is still being built. */
  dashboardPending: boolean;
  dataDir: string;
  seconds: number;
}

/** The lines that end a start: where everything is, and a command that sends a first email. */
export function summaryLines({ project, places, smtp, dashboardPending, dataDir, seconds }: Summary): string[] {
  const rows: [string, string][] = [
    ['Dashboard', dashboardPending ? `${places.baseUrl}  (being built; it opens when that is done)` : places.baseUrl],
    ['API', `${places.baseUrl}  (reference: ${places.baseUrl}/docs)`],
    ...(places.sandboxUrl === null ? [] : [['Inbox', places.sandboxUrl] satisfies [string, string]]),
    ...(smtp === null
      ? []
      : [['SMTP', `${smtp}  (user fernpost, password: the secret key)`] satisfies [string, string]]),
    places.temporalUiUrl === null ? ['Temporal', places.temporalAddress] : ['Temporal UI', places.temporalUiUrl],
    ['Logs', shortPath(join(dataDir, 'logs'))],
  ];
  if (project !== null)
    rows.push(
      ['Login', `${project.login.email}  ${project.login.password ?? '(with the password of that account)'}`],
      ['Secret key', project.secretKey],
      ['Public key', project.publicKey],
      ['Kept in', shortPath(join(dataDir, 'first-project.json'))],
    );
  return [
    '',
    `Fernpost is ready after ${seconds} s. Ctrl-C stops it; the next start continues with the data in ${shortPath(dataDir)}.`,
    '',
    ...rows.map(([name, text]) => `  ${name.padEnd(12)} ${text}`),
    '',
    ...(project === null ? [] : firstEmail(project, places)),
  ];
}

function firstEmail({ secretKey, sender }: FirstProject, { baseUrl, sandboxUrl }: Places): string[] {
  const body = {
    to: 'ada@example.com',
    from: sender,
    subject: 'Hello {{firstName}}',
    body: '<p>Hi {{firstName}}</p>',
    data: { firstName: 'Ada' },
  };
  return [
    sandboxUrl === null ? 'Send a first email:' : `Send a first email, then look at ${sandboxUrl}:`,
    '',
    `  curl ${baseUrl}/v1/send -H 'Authorization: Bearer ${secretKey}' -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`,
    '',
  ];
}
