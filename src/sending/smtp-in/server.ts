import type { TlsOptions } from 'node:tls';
import { domainToASCII } from 'node:url';
import ipaddr from 'ipaddr.js';
import type { Logger } from 'pino';
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';
import type { BodyBudget } from '../../core/http/body-budget.ts';
import { normaliseEmail } from '../../core/lib/email-address.ts';
import { type AcceptDeps, acceptMessage } from './accept.ts';
import { ClientLog, type ClientNews, type ClientOwner, clientOfFailure, clientOfKey } from './clients.ts';
import { collect, firstBytes } from './collect.ts';
import { replyTo, SmtpReply, unforeseen } from './replies.ts';
import { SignIn, type SignInDeps } from './sign-in.ts';

/** What a server for submission needs. */
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
export interface SmtpInOptions {
  /** What it calls itself. */
  name: string;
  /** Certificate and key; null offers no TLS, so that only clients on this machine can sign in. */
  tls: Pick<TlsOptions, 'cert' | 'key'> | null;
  /** TLS from the first byte. */
  secure: boolean;
  /** Most connections at once. */
  connections: number;
  /** How long messages that are being read may take once the server is told to stop, in milliseconds. */
  graceMs: number;
}

/** Who is signed in. */
interface Credentials {
  username: string;
  password: string;
}

const mostRecipients = 50;
const megabyte = 1024 * 1024;
const idleMs = 60_000;
const signInMs = 60_000;
const transactionMs = 10 * 60_000;
// Commands of sendmail that the library has for fun.
const jokes = ['WIZ', 'SHELL', 'KILL'];

/**
 * A server for message submission (RFC 6409): whoever signs in with a secret key hands over mail as `POST /v1/send` takes it. It relays
 * nothing for anybody else.
 */
export class SmtpIn {
  readonly #deps: SmtpInDeps;
  readonly #options: SmtpInOptions;
  readonly #signIn: SignIn;
  readonly #server: SMTPServer;
  readonly #deadlines = new Map<string, NodeJS.Timeout>();
  readonly #busy = new Set<string>();
  readonly #clients: ClientLog;
  readonly #owners = new Map<string, ClientOwner>();
  #isStopping = false;

  constructor(deps: SmtpInDeps, options: SmtpInOptions) {
    this.#deps = deps;
    this.#options = options;
    this.#signIn = new SignIn(deps);
    this.#clients = new ClientLog(deps.db, deps.log);
    this.#server = new SMTPServer({
      ...options.tls,
      name: options.name,
      banner: 'Posthorn',
      secure: options.secure,
      size: this.#sizeLimit,
      maxClients: options.connections,
      maxRecipients: mostRecipients,
      authMethods: ['PLAIN', 'LOGIN'],
      // Decided for each connection, by `#disabled`.
      allowInsecureAuth: true,
      disableReverseLookup: true,
      socketTimeout: idleMs,
      closeTimeout: options.graceMs,
      logger: false,
      onConnect: (session, done) => {
        session.disabledCommands = this.#disabled(session, options.secure);
        this.#setDeadline(session, signInMs);
        done();
      },
      onSecure: (_socket, session, done) => {
        session.disabledCommands = this.#disabled(session, true);
        done();
      },
      onAuth: ({ username = '', password }, session, done) => {
        void this.#authenticate({ username, password: password ?? '' }, session).then(
          (user) => done(null, { user }),
          (error: unknown) => done(this.#refusal(error, session, clientOfFailure(username))),
        );
      },
      onMailFrom: (_address, session, done) => {
        done(session.user ? null : new SmtpReply(530, '5.7.0', 'Sign in first, over TLS'));
      },
      onRcptTo: ({ address }, session, done) => {
        const refusal = refusalOfRecipient(address);
        done(refusal === null ? null : this.#refuse(refusal, session));
      },
      onData: (stream, session, done) => {
        void this.#receive(stream, session).then(
          (ids) => {
            deps.counting.onAccepted();
            this.#note(session, { kind: 'accepted' });
            done(null, `2.0.0 Queued ${ids.join(' ')}`);
          },
          (error: unknown) => done(this.#refusal(error, session)),
        );
      },
      onClose: ({ id }) => {
        clearTimeout(this.#deadlines.get(id));
        this.#deadlines.delete(id);
        this.#owners.delete(id);
      },
    });
    // Connections that break off are not this server's failure.
    this.#server.on('error', (error) => deps.log.debug({ err: error }, 'an SMTP connection failed'));
  }

  /** Begins to listen; resolves to the port. Rejects when it cannot be had. */
  async listen(port: number, host: string): Promise<number> {
    const { server } = this.#server;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      this.#server.listen(port, host, () => {
        server.off('error', reject);
        resolve();
      });
    });
    const address = server.address();
    return typeof address === 'object' && address !== null ? address.port : port;
  }

  /** Takes a renewed certificate for the connections from now on. */
  renew(tls: Pick<TlsOptions, 'cert' | 'key'>): void {
    this.#server.updateSecureContext(tls);
  }

  /** Connections at the moment. */
  get connections(): number {
    return this.#server.connections.size;
  }

  /** Takes no new connections and messages, and lets those finish that are being read, for as long as the options say. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const { id } of this.#server.connections) this.#endIfIdle(id);
    await closed;
    await this.#clients.drain();
  }

  // Base64 has line breaks in a message, and quoted-printable is longer than what it stands for.
  get #sizeLimit(): number {
    return Math.min(60 * megabyte, Math.ceil(this.#deps.limits.messageBytes * 1.25));
  }

  // A password never crosses a network in clear.
  #disabled({ remoteAddress }: SMTPServerSession, isSecure: boolean): string[] {
    const maySignIn = isSecure || isLoopback(remoteAddress);
    return [...jokes, ...(this.#options.tls === null ? ['STARTTLS'] : []), ...(maySignIn ? [] : ['AUTH'])];
  }

  async #authenticate(credentials: Credentials, session: SMTPServerSession): Promise<Credentials> {
    const owner = await this.#signIn.check(credentials.username, credentials.password, session.remoteAddress);
    this.#owners.set(session.id, clientOfKey(owner));
    this.#note(session, { kind: 'signed-in' });
    this.#setDeadline(session, transactionMs);
    return credentials;
  }

  async #receive(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<string[]> {
    const { mailFrom, rcptTo } = session.envelope;
    this.#busy.add(session.id);
    this.#setDeadline(session, transactionMs);
    try {
      const { username, password } = session.user as Credentials;
      // The key may have ended, or the project been disabled, since the connection was opened.
      const owner = await this.#signIn.find(username, password);
      if (owner === null) throw new SmtpReply(535, '5.7.8', 'This key is no longer valid');
      const hold = await this.#deps.budget.take(owner.project.id, firstBytes);
      try {
        const raw = await collect(stream, this.#sizeLimit, hold);
        const recipients = rcptTo.map(({ address }) => recipientOf(address)).filter((address) => address !== null);
        const submission = { mailFrom: mailFrom === false ? '' : mailFrom.address, recipients, raw };
        return await acceptMessage(this.#deps, owner, submission);
      } finally {
        hold.release();
      }
    } finally {
      this.#busy.delete(session.id);
      this.#setDeadline(session, transactionMs);
      if (this.#isStopping) setImmediate(() => this.#endIfIdle(session.id));
    }
  }

  #refusal(error: unknown, session: SMTPServerSession, owner?: ClientOwner | null): SmtpReply {
    const { remoteAddress } = session;
    const reply = replyTo(error);
    if (reply === null) this.#deps.log.error({ err: error }, 'a message by SMTP could not be accepted');
    else this.#deps.log.info({ reply: `${reply.responseCode} ${reply.message}`, remoteAddress }, 'SMTP refused');
    return this.#refuse(reply ?? unforeseen(), session, owner);
  }

  #refuse(reply: SmtpReply, session: SMTPServerSession, owner?: ClientOwner | null): SmtpReply {
    this.#deps.counting.onRefused(reply.responseCode);
    this.#note(session, { kind: 'refused', reply: `${reply.responseCode} ${reply.message}` }, owner);
    return reply;
  }

  #note({ id, remoteAddress }: SMTPServerSession, news: ClientNews, known?: ClientOwner | null): void {
    const owner = known ?? this.#owners.get(id);
    if (owner) this.#clients.note(owner, remoteAddress, news);
  }

  #setDeadline({ id }: SMTPServerSession, ms: number): void {
    clearTimeout(this.#deadlines.get(id));
    this.#deadlines.set(id, setTimeout(() => this.#end(id, '4.4.2 This takes too long'), ms).unref());
  }

  #endIfIdle(id: string): void {
    if (!this.#busy.has(id)) this.#end(id, '4.3.2 The service is stopping');
  }

  #end(id: string, why: string): void {
    for (const connection of this.#server.connections) if (connection.id === id) connection.send(421, why, false);
  }
}

/** The stored form of a recipient's address, or null. The library answers domains in Unicode. */
function recipientOf(address: string): string | null {
  const at = address.lastIndexOf('@');
  return normaliseEmail(`${address.slice(0, at)}@${domainToASCII(address.slice(at + 1))}`);
}

function refusalOfRecipient(address: string): SmtpReply | null {
  if (recipientOf(address) !== null) return null;

  return /^[ -~]*@/.test(address)
    ? new SmtpReply(553, '5.1.3', 'The recipient must be an email address')
    : new SmtpReply(553, '5.6.7', 'Addresses with letters outside ASCII before the @ are not supported');
}

function isLoopback(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback';
}
