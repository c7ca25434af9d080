import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A client that says what it is told to, byte for byte. */
export class RawSmtp implements AsyncDisposable {
  readonly socket: Socket;
  #heard = '';
  #ended = false;
  readonly #waiting = new Set<() => void>();

  private constructor(port: number) {
    this.socket = connect(port, '127.0.0.1');
    this.socket.on('data', (chunk: Buffer) => {
      this.#heard += chunk.toString();
      for (const check of this.#waiting) check();
    });
    this.socket.on('error', () => undefined);
    this.socket.on('close', () => {
      this.#ended = true;
      for (const check of this.#waiting) check();
    });
  }

  /** Connects and hears the greeting. */
  static async open(port: number): Promise<RawSmtp> {
    const client = new RawSmtp(port);
    await client.reply();
    return client;
  }

  /** Connects, and signs in with a key. */
  static async signedIn(port: number, key: string): Promise<RawSmtp> {
    const client = await RawSmtp.open(port);
    await client.say('EHLO client.test');
    await client.say(`AUTH PLAIN ${Buffer.from(`\0fernpost\0${key}`).toString('base64')}`);
    return client;
  }

  write(bytes: string | Buffer): void {
    this.socket.write(bytes);
  }

  /** Says a line and answers the reply to it. */
  say(line: string): Promise<string> {
    this.write(`${line}\r\n`);
    return this.reply();
  }

  /** The next reply, with all its lines; '' when the connection has ended. */
  async reply(): Promise<string> {
    for (;;) {
      const found = /^(?:\d{3}-[^\r\n]*\r\n)*\d{3} [^\r\n]*\r\n/.exec(this.#heard);
      if (found) {
        this.#heard = this.#heard.slice(found[0].length);
        return found[0].trimEnd();
      }
      if (this.#ended) return '';
      await new Promise<void>((resolve) => {
        const check = () => {
          this.#waiting.delete(check);
          resolve();
        };
        this.#waiting.add(check);
      });
    }
  }

  /** Sends a message to one recipient and answers the last reply. */
  async mail(from: string, to: string, message: string): Promise<string> {
    await this.say(`MAIL FROM:<${from}>`);
    await this.say(`RCPT TO:<${to}>`);
    const ready = await this.say('DATA');
    if (!ready.startsWith('354')) return ready;
    return this.say(`${message}\r\n.`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#ended) return;
    const closed = once(this.socket, 'close');
    this.socket.destroy();
    await closed;
  }
}
