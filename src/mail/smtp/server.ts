import type { Socket } from 'node:net';
import type { TlsOptions } from 'node:tls';
import { domainToASCII } from 'node:url';
import ipaddr from 'ipaddr.js';
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';
import { collect, firstBytes, type MessageMemory } from './message.ts';
import { isFrom, SmtpReply, WaitingRoom } from './waiting-room.ts';

/** Credentials of a client. */
export interface Credentials {
  username: string;
  password: string;
}

/** A message with its envelope. */
export interface Submission {
  /** Empty for a message without a return address. */
  mailFrom: string;
  /** Addresses as `addressOf` answered them. */
  recipients: readonly string[];
  raw: Buffer;
}

/** Something that a client at an address did; `owner` is null where nobody is signed in. */
export type SubmissionEvent<Owner> =
  | { kind: 'signed-in' | 'accepted'; ip: string; owner: Owner }
  /** `username` is that of a sign-in that failed. */
  | { kind: 'refused'; ip: string; owner: Owner | null; username: string | null; reply: SmtpReply };

/** Decides what the protocol cannot: who may send, and what becomes of a message. An `Owner` is who is signed in. */
export interface SubmissionHandler<Owner> {
  /** Whose credentials these are. @throws what `replyTo` understands */
  signIn(credentials: Credentials, ip: string): Promise<Owner>;
  /** Asked again for each message, since credentials may end while a connection is open; null where they have. */
  ownerOf(credentials: Credentials): Promise<Owner | null>;
  /** Whose connections are counted together: the same text for all of an account. */
  accountOf(owner: Owner): string;
  /** The stored form of a recipient's address, whose domain is in ASCII; null where it is no address. */
  addressOf(recipient: string): string | null;
  /** Sets memory aside for a message before its size is known. @throws what `replyTo` understands */
  memoryFor(owner: Owner, bytes: number): Promise<MessageMemory>;
  /** Takes a message; resolves to what it is queued as. @throws what `replyTo` understands */
  accept(owner: Owner, submission: Submission): Promise<string>;
  /** Returns the reply to a failure for a client at an address; a failure that is a reply already stays as it is. */
  replyTo(error: unknown, ip: string): SmtpReply;
  onEvent(event: SubmissionEvent<Owner>): void;
  /** A connection that broke off, which is nobody's failure here. */
  onBroken(error: Error): void;
}

/** How a server listens. */
export interface SubmissionOptions {
  /** The host name that it gives, and the text of its greeting. */
  name: string;
  banner: string;
  /** Certificate and key; null offers no TLS, so that only clients on this machine can sign in. */
  tls: Pick<TlsOptions, 'cert' | 'key'> | null;
  /** TLS from the first byte. */
  secure: boolean;
  /** Most connections at once. */
  connections: number;
  /** Most of them from one network (an IPv4 /24 or an IPv6 /64) that have not signed in. */
  waiting: number;
  /** Most of them that one account has signed in on. */
  perAccount: number;
  /** Milliseconds that a connection has until it has signed in; 15 seconds when absent. */
  signInMs?: number;
  /** Most bytes of a message, and most recipients. */
  messageBytes: number;
  recipients: number;
  /** How long messages that are being read may take once the server is asked to stop, in milliseconds. */
  graceMs: number;
}

const idleMs = 60_000;
const signInMs = 15_000;
const transactionMs = 10 * 60_000;
// Commands of sendmail that the library has for fun.
const jokes = ['WIZ', 'SHELL', 'KILL'];

/** A server for message submission (RFC 6409). Whoever is signed in hands over mail; it relays nothing for anybody else. */
export class SubmissionServer<Owner> {
  readonly #handler: SubmissionHandler<Owner>;
  readonly #options: SubmissionOptions;
  readonly #server: SMTPServer;
  readonly #deadlines = new Map<string, NodeJS.Timeout>();
  readonly #waiting: WaitingRoom;
  readonly #busy = new Set<string>();
  readonly #owners = new Map<string, Owner>();
  #isStopping = false;

  constructor(handler: SubmissionHandler<Owner>, options: SubmissionOptions) {
    this.#handler = handler;
    this.#options = options;
    this.#waiting = new WaitingRoom({
      perNetwork: options.waiting,
      ms: options.signInMs ?? signInMs,
      onLate: (socket) => this.#endLate(socket),
    });
    this.#server = new SMTPServer({
      ...options.tls,
      name: options.name,
      banner: options.banner,
      secure: options.secure,
      size: options.messageBytes,
      maxClients: options.connections,
      maxRecipients: options.recipients,
      authMethods: ['PLAIN', 'LOGIN'],
      // Decided for each connection, by `#disabled`.
      allowInsecureAuth: true,
      disableReverseLookup: true,
      socketTimeout: idleMs,
      closeTimeout: options.graceMs,
      logger: false,
      onConnect: (session, done) => {
        session.disabledCommands = this.#disabled(session, options.secure);
        done();
      },
      onSecure: (_socket, session, done) => {
        session.disabledCommands = this.#disabled(session, true);
        done();
      },
      onAuth: ({ username = '', password }, session, done) => {
        void this.#signIn({ username, password: password ?? '' }, session).then(
          (user) => done(null, { user }),
          (error: unknown) => done(this.#fail(error, session, username)),
        );
      },
      onMailFrom: (_address, session, done) => {
        done(session.user ? null : new SmtpReply(530, '5.7.0', 'Sign in first, over TLS'));
      },
      onRcptTo: ({ address }, session, done) => {
        done(this.#addressOf(address) === null ? this.#refuse(refusalOf(address), session) : null);
      },
      onData: (stream, session, done) => {
        void this.#receive(stream, session).then(
          (queued) => done(null, `2.0.0 Queued ${queued}`),
          (error: unknown) => done(this.#fail(error, session)),
        );
      },
      onClose: ({ id }) => {
        clearTimeout(this.#deadlines.get(id));
        this.#deadlines.delete(id);
        this.#owners.delete(id);
      },
    });
    this.#server.on('error', (error) => handler.onBroken(error));
    this.#guardConnections();
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
  }

  // The library hears of a connection after its TLS handshake, which a client need not begin.
  #guardConnections(): void {
    const { server } = this.#server;
    const accept = server.listeners('connection') as ((socket: Socket) => void)[];
    server.removeAllListeners('connection');
    server.on('connection', (socket: Socket) => {
      if (this.#waiting.enter(socket)) for (const listener of accept) listener.call(server, socket);
      else this.#turnAway(socket);
    });
  }

  #turnAway(socket: Socket): void {
    socket.on('error', () => undefined);
    if (this.#options.secure) socket.destroy();
    else socket.end('421 4.7.0 Too many connections of your network have not signed in\r\n', () => socket.destroy());
  }

  #endLate(socket: Socket): void {
    const isLate = ({ session }: { session: SMTPServerSession }) =>
      isFrom(socket, session.remoteAddress, session.remotePort);
    const late = [...this.#server.connections].find(isLate);
    if (late === undefined) socket.destroy();
    else this.#end(late.id, '4.4.2 Sign in sooner');
  }

  // A password never crosses a network in clear.
  #disabled({ remoteAddress }: SMTPServerSession, isSecure: boolean): string[] {
    const maySignIn = isSecure || isLoopback(remoteAddress);
    return [...jokes, ...(this.#options.tls === null ? ['STARTTLS'] : []), ...(maySignIn ? [] : ['AUTH'])];
  }

  async #signIn(credentials: Credentials, session: SMTPServerSession): Promise<Credentials> {
    const ip = session.remoteAddress;
    const owner = await this.#handler.signIn(credentials, ip);
    if (this.#connectionsOf(owner) >= this.#options.perAccount)
      throw new SmtpReply(454, '4.7.0', 'This account has too many connections: close some and try again');
    this.#owners.set(session.id, owner);
    this.#waiting.signedIn(ip, session.remotePort);
    this.#handler.onEvent({ kind: 'signed-in', ip, owner });
    this.#setDeadline(session, transactionMs);
    return credentials;
  }

  #connectionsOf(owner: Owner): number {
    const account = this.#handler.accountOf(owner);
    let count = 0;
    for (const { id } of this.#server.connections) {
      const other = this.#owners.get(id);
      if (other !== undefined && this.#handler.accountOf(other) === account) count += 1;
    }
    return count;
  }

  async #receive(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<string> {
    this.#busy.add(session.id);
    this.#setDeadline(session, transactionMs);
    try {
      const owner = await this.#handler.ownerOf(session.user as Credentials);
      if (owner === null) throw new SmtpReply(535, '5.7.8', 'This key is no longer valid');
      const queued = await this.#take(stream, session, owner);
      this.#handler.onEvent({ kind: 'accepted', ip: session.remoteAddress, owner });
      return queued;
    } finally {
      this.#busy.delete(session.id);
      this.#setDeadline(session, transactionMs);
      if (this.#isStopping) setImmediate(() => this.#endIfIdle(session.id));
    }
  }

  async #take(stream: SMTPServerDataStream, session: SMTPServerSession, owner: Owner): Promise<string> {
    const { mailFrom, rcptTo } = session.envelope;
    const memory = await this.#handler.memoryFor(owner, firstBytes);
    try {
      const raw = await collect(stream, this.#options.messageBytes, memory);
      const recipients = rcptTo.flatMap(({ address }) => this.#addressOf(address) ?? []);
      return await this.#handler.accept(owner, {
        mailFrom: mailFrom === false ? '' : mailFrom.address,
        recipients,
        raw,
      });
    } finally {
      memory.release();
    }
  }

  // The library answers domains in Unicode.
  #addressOf(recipient: string): string | null {
    const at = recipient.lastIndexOf('@');
    return this.#handler.addressOf(`${recipient.slice(0, at)}@${domainToASCII(recipient.slice(at + 1))}`);
  }

  #fail(error: unknown, session: SMTPServerSession, username: string | null = null): SmtpReply {
    return this.#refuse(this.#handler.replyTo(error, session.remoteAddress), session, username);
  }

  #refuse(reply: SmtpReply, { id, remoteAddress: ip }: SMTPServerSession, username: string | null = null): SmtpReply {
    const owner = this.#owners.get(id) ?? null;
    this.#handler.onEvent({ kind: 'refused', ip, owner, username, reply });
    return reply;
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

function refusalOf(recipient: string): SmtpReply {
  return /^[ -~]*@/.test(recipient)
    ? new SmtpReply(553, '5.1.3', 'The recipient must be an email address')
    : new SmtpReply(553, '5.6.7', 'Addresses with letters outside ASCII before the @ are not supported');
}

function isLoopback(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback';
}
