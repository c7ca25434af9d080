import { Readable } from 'node:stream';
import SMTPConnection, { type SMTPConnectionOptions } from 'nodemailer/lib/smtp-connection';

/** Where an SMTP server is and how to log in. */
export interface SmtpAccess {
  host: string;
  port: number;
  /** TLS from the first byte; otherwise STARTTLS where the server offers it. */
  secure: boolean;
  /** Refuses to send without TLS. */
  requireTls: boolean;
  user: string | null;
  password: string | null;
  /** How long the server may be silent, in milliseconds; 40,000 when absent. */
  silenceMs?: number;
}

/** Reads `smtp://user:password@host:port`. TLS is demanded where a password would otherwise travel in clear. */
export function smtpAccess(text: string, requireTls: boolean | null): SmtpAccess {
  const url = new URL(text);
  const secure = url.protocol === 'smtps:';
  const plain = (part: string) => (part === '' ? null : decodeURIComponent(part));
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (secure ? 465 : 587) : Number(url.port),
    secure,
    requireTls: requireTls ?? url.password !== '',
    user: plain(url.username),
    password: plain(url.password),
  };
}

/** Why a message was not taken. `code` is the server's reply, null when there was none. */
export class SmtpFailure extends Error {
  readonly code: number | null;
  /** The command that it answered: `CONN`, `AUTH`, `MAIL FROM`, `RCPT TO`, `DATA` … */
  readonly command: string;
  /** nodemailer's word for what went wrong, such as `EMESSAGE`. */
  readonly reason: string;
  /** Whether the text of the message had begun to leave when it happened. */
  readonly begun: boolean;

  constructor(error: unknown, begun: boolean) {
    const { message, responseCode, command, code } = error as Record<
      'message' | 'command' | 'code',
      string | undefined
    > & {
      responseCode?: unknown;
    };
    super(message ?? String(error), { cause: error });
    this.name = 'SmtpFailure';
    this.code = typeof responseCode === 'number' ? responseCode : null;
    this.command = command ?? 'CONN';
    this.reason = code ?? '';
    this.begun = begun;
  }
}

/** A connection to an SMTP server, logged in. */
export interface SmtpSession {
  /** False once it cannot take another message. */
  readonly usable: boolean;
  /** Hands a message over; answers the server's reply. @throws SmtpFailure */
  send(envelope: { from: string; to: string }, mime: Buffer): Promise<string>;
  close(): void;
}

// Together with what comes before, these stay below the age from which a claim counts as abandoned.
const mostOpeningMs = 8_000;
const mostSendingMs = 40_000;

/** Connects and logs in. @throws SmtpFailure */
export async function openSmtpSession(access: SmtpAccess): Promise<SmtpSession> {
  const { host, port, secure, requireTls: requireTLS, user, password, silenceMs: socketTimeout = 40_000 } = access;
  const limits = { connectionTimeout: mostOpeningMs, greetingTimeout: mostOpeningMs, socketTimeout };
  const session = new Session({ host, port, secure, requireTLS, ...limits });
  await session.open(user === null ? null : { user, pass: password ?? '' });
  return session;
}

class Session implements SmtpSession {
  private readonly connection: SMTPConnection;
  private ended = false;
  private failed: (error: Error) => void = () => undefined;

  constructor(options: SMTPConnectionOptions) {
    this.connection = new SMTPConnection(options);
    // Errors also reach whoever waits for an answer; without a listener they would end the process.
    this.connection.on('error', (error: Error) => {
      this.ended = true;
      this.failed(error);
    });
    this.connection.on('end', () => {
      this.ended = true;
      this.failed(new Error('The connection was closed'));
    });
  }

  get usable(): boolean {
    return !this.ended;
  }

  async open(credentials: { user: string; pass: string } | null): Promise<void> {
    const { connection } = this;
    try {
      await this.ask((done) => connection.connect(done));
      if (credentials !== null) await this.ask((done) => connection.login({ credentials }, done));
    } catch (error) {
      connection.close();
      throw new SmtpFailure(error, false);
    }
  }

  async send(envelope: { from: string; to: string }, mime: Buffer): Promise<string> {
    const { connection } = this;
    let begun = false;
    // The connection reads the text only once the server has said that it will take it.
    const text = new Readable({
      read() {
        begun = true;
        this.push(mime);
        this.push(null);
      },
    });
    let reply = '';
    try {
      await this.ask(
        (done) =>
          connection.send({ ...envelope, size: mime.length }, text, (error, info) => {
            reply = info?.response ?? '';
            done(error);
          }),
        mostSendingMs,
      );
      return reply;
    } catch (error) {
      const failure = new SmtpFailure(error, begun);
      // After a reply the conversation can go on from the beginning; after anything else nobody knows where it stands.
      if (failure.code === null || this.ended) connection.close();
      else await this.ask((done) => connection.reset(done)).catch(() => connection.close());
      throw failure;
    }
  }

  close(): void {
    this.ended = true;
    this.connection.quit();
  }

  private ask(call: (done: (error?: Error | null) => void) => void, mostMs = mostOpeningMs): Promise<void> {
    return new Promise((resolve, reject) => {
      // A server may answer each command just in time and take minutes for a message, while others take its claim for dead.
      const late = setTimeout(() => {
        this.ended = true;
        reject(new Error(`The SMTP server took longer than ${mostMs / 1000} seconds`));
        this.connection.close();
      }, mostMs);
      const end = (settle: () => void) => {
        clearTimeout(late);
        settle();
      };
      this.failed = (error) => end(() => reject(error));
      call((error) => end(() => (error ? reject(error) : resolve())));
    });
  }
}
