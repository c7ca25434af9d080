import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { shortPath } from '@fernpost/local-stack';
import * as v from 'valibot';

/** Where the parts of this run are to be reached. */
const Places = v.object({
  baseUrl: v.string(),
  sandboxUrl: v.nullable(v.string()),
  temporalAddress: v.string(),
  temporalUiUrl: v.nullable(v.string()),
});
export type Places = v.InferOutput<typeof Places>;

const FirstProject = v.object({
  baseUrl: v.string(),
  projectId: v.string(),
  publicKey: v.string(),
  secretKey: v.string(),
  sender: v.string(),
  login: v.object({ email: v.string(), password: v.nullable(v.string()) }),
  sandboxUrl: v.optional(v.nullable(v.string())),
  temporalAddress: v.string(),
  temporalUiUrl: v.optional(v.nullable(v.string())),
});

/** The project that the first run made: how to use it and where everything is. */
export type FirstProject = v.InferOutput<typeof FirstProject>;

/** The message of the process that makes the first project: the project, or the settings that are needed to make one. */
export const FirstProjectSent = v.fallback(v.object({ project: v.unknown(), needed: v.array(v.string()) }), {
  project: null,
  needed: [],
});

const fileOf = (dataDir: string) => join(dataDir, 'first-project.json');

/**
 * Keeps DATA_DIR/first-project.json: written for its owner alone when the project was made, and brought up to date when a later run
 * listens elsewhere. Answers what the file says, or null when the project was made without this file.
 */
export function keepFirstProject(dataDir: string, made: unknown, places: Places): FirstProject | null {
  const project = made === null || made === undefined ? readFirstProject(dataDir) : v.parse(FirstProject, made);
  if (project === null) return null;
  const current = { ...project, ...places };
  const path = fileOf(dataDir);
  writeFileSync(`${path}.new`, `${JSON.stringify(current, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${path}.new`, path);
  return current;
}

function readFirstProject(dataDir: string): FirstProject | null {
  const path = fileOf(dataDir);
  if (!existsSync(path)) return null;
  try {
    return v.parse(FirstProject, JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return null;
  }
}

/** The facts of the summary. */
interface Summary {
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
