import type { TlsOptions } from 'node:tls';
import type { Logger } from 'pino';
import type { BodyBudget } from '../../http/bodies/budget.ts';
import { normalizeEmail } from '../../lib/validation/email-address.ts';
import type { KeyOwner } from '../../projects/directory.ts';
import { type Credentials, type SubmissionEvent, SubmissionServer } from '../smtp/server.ts';
import type { SmtpReply } from '../smtp/waiting-room.ts';
import { type AcceptDeps, acceptMessage, replyTo, unforeseen } from './accept.ts';
import { ClientLog, clientOfFailure, clientOfKey } from './clients.ts';
import { SignIn, type SignInDeps } from './sign-in.ts';

/** Dependencies of a submission server. */
export interface SmtpInDeps extends AcceptDeps, Omit<SignInDeps, 'directory'> {
  directory: AcceptDeps['directory'] & SignInDeps['directory'];
  log: Logger;
  counting: SmtpCounting;
  /** Limits the memory of messages that are being read. */
  budget: BodyBudget;
}

/** Hears what becomes of messages and of attempts to hand one over. */
export interface SmtpCounting {
  onAccepted(): void;
  onRefused(code: number): void;
}

/** How a server listens. */
interface SmtpInOptions {
  /** The host name in its greeting. */
  name: string;
  /** Certificate and key; null offers no TLS, so that only clients on this machine can sign in. */
  tls: Pick<TlsOptions, 'cert' | 'key'> | null;
  /** TLS from the first byte. */
  secure: boolean;
  /** Most connections at once. */
  connections: number;
  /** Most of them from one network that have not signed in. */
  waiting: number;
  /** How long messages that are being read may take once the server is asked to stop, in milliseconds. */
  graceMs: number;
}

/** A server for submission; `stop` also waits until what its clients did is written down. */
export type SmtpIn = Pick<SubmissionServer<KeyOwner>, 'listen' | 'renew' | 'connections' | 'stop'>;

const mostRecipients = 50;
const megabyte = 1024 * 1024;

/** A server to which whoever signs in with a secret key hands over mail, as `POST /v1/send` takes it. */
export function createSmtpIn(deps: SmtpInDeps, options: SmtpInOptions): SmtpIn {
  const { log, budget } = deps;
  const signIn = new SignIn(deps);
  const clients = new ClientLog(deps.db, log);
  const server = new SubmissionServer<KeyOwner>(
    {
      signIn: ({ username, password }, ip) => signIn.check(username, password, ip),
      ownerOf: ({ username, password }: Credentials) => signIn.find(username, password),
      accountOf: ({ project }) => project.id,
      addressOf: normalizeEmail,
      memoryFor: ({ project }, bytes) => budget.take(project.id, bytes),
      accept: async (owner, submission) => (await acceptMessage(deps, owner, submission)).join(' '),
      replyTo: (error, ip) => loggedReply(log, error, ip),
      onEvent: (event) => heard(deps.counting, clients, event),
      onBroken: (error) => log.debug({ err: error }, 'an SMTP connection failed'),
    },
    {
      ...options,
      // So that whatever one project holds, others can hand over mail.
      perAccount: Math.ceil(options.connections / 4),
      banner: 'Fernpost',
      // Base64 has line breaks in a message, and quoted-printable is longer than what it stands for.
      messageBytes: Math.min(60 * megabyte, Math.ceil(deps.limits.messageBytes * 1.25)),
      recipients: mostRecipients,
    },
  );
  return {
    listen: (port, host) => server.listen(port, host),
    renew: (tls) => server.renew(tls),
    get connections() {
      return server.connections;
    },
    async stop() {
      await server.stop();
      await clients.drain();
    },
  };
}

function loggedReply(log: Logger, error: unknown, remoteAddress: string): SmtpReply {
  const reply = replyTo(error);
  if (reply === null) log.error({ err: error }, 'a message by SMTP could not be accepted');
  else log.info({ reply: reply.line, remoteAddress }, 'SMTP refused');
  return reply ?? unforeseen();
}

function heard(counting: SmtpCounting, clients: ClientLog, event: SubmissionEvent<KeyOwner>): void {
  const { kind, ip } = event;
  if (kind !== 'refused') {
    if (kind === 'accepted') counting.onAccepted();
    clients.note(clientOfKey(event.owner), ip, { kind });
    return;
  }
  const { reply, owner, username } = event;
  counting.onRefused(reply.responseCode);
  const client = (username === null ? null : clientOfFailure(username)) ?? (owner && clientOfKey(owner));
  if (client) clients.note(client, ip, { kind, reply: reply.line });
}
