import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

/** A message as an SMTP server got it. */
interface SmtpMessage {
  from: string;
  to: string[];
  mime: string;
}

/** A reply of an SMTP server that refuses. */
export class SmtpRefusal extends Error {
  readonly responseCode: number;

  constructor(responseCode: number, text: string) {
    super(text);
    this.responseCode = responseCode;
  }
}

/** An SMTP server that can be told to misbehave. */
export interface TestSmtp {
  host: string;
  port: number;
  /** Messages whose text came in whole, whether or not the answer arrived. */
  taken: SmtpMessage[];
  /** Connections so far. */
  connections: number;
  /** Throws to refuse a recipient. */
  onRecipient: (address: string) => void;
  /** Throws to refuse a message after its text; answers `drop` to end the connection instead of answering. */
  onMessage: (message: SmtpMessage) => 'drop' | undefined;
  /** Ends the connection at the first piece of a message's text. */
  dropInText: boolean;
  /** Ends every open connection. */
  cut(): void;
  close(): Promise<void>;
}

/** Starts the server on a free port. */
export async function smtpServer(options: SMTPServerOptions = {}): Promise<TestSmtp> {
  const sockets = new Set<{ destroy(): void }>();
  const smtp: TestSmtp = {
    host: '127.0.0.1',
    port: 0,
    taken: [],
    connections: 0,
    onRecipient: () => undefined,
    onMessage: () => undefined,
    dropInText: false,
    cut: () => {
      for (const socket of sockets) socket.destroy();
    },
    close: async () => {
      smtp.cut();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    closeTimeout: 100,
    onRcptTo({ address }, _session, done) {
      try {
        smtp.onRecipient(address);
        done();
      } catch (error) {
        done(error as Error);
      }
    },
    onData(stream, session, done) {
      const parts: Buffer[] = [];
      if (smtp.dropInText) return stream.once('data', () => smtp.cut());
      stream.on('data', (part: Buffer) => parts.push(part));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        const message = {
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          mime: Buffer.concat(parts).toString('utf8'),
        };
        try {
          const end = smtp.onMessage(message);
          smtp.taken.push(message);
          if (end === 'drop') smtp.cut();
          else done(null, 'queued as 4F2A1');
        } catch (error) {
          done(error as Error);
        }
      });
    },
    ...options,
  });
  server.server.on('connection', (socket) => {
    smtp.connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  smtp.port = (server.server.address() as AddressInfo).port;
  return smtp;
}
