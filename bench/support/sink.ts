import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { HashSet } from './hash-set.ts';

/** The mail that a sink has taken since it was last reset. */
export interface SinkCount {
  messages: number;
  /** Different recipients. */
  recipients: number;
  bytes: number;
}

/** A server that speaks Postmark's batch endpoint, accepts everything, and keeps only counts. */
export interface Sink {
  url: string;
  count(): SinkCount;
  reset(): void;
}

/** Starts a sink on a free port. `delayMs` is how long it takes to answer a call. */
export async function startSink(delayMs = 0): Promise<Sink> {
  let messages = 0;
  let bytes = 0;
  let recipients = new HashSet();
  const server = createServer(async (request, response) => {
    const at = new Date().toISOString();
    const answers: string[] = [];
    const read = await readRecipients(request, (body, from, to) => {
      recipients.add(body, from, to);
      answers.push(
        `{"ErrorCode":0,"Message":"OK","MessageID":"${randomUUID()}","SubmittedAt":"${at}","To":"${body.toString('latin1', from, to)}"}`,
      );
    });
    if (request.method === 'GET') return void response.end('{"TotalCount":0,"Messages":[]}');
    bytes += read;
    messages += answers.length;
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
    response.setHeader('content-type', 'application/json');
    response.end(request.url?.endsWith('/batch') ? `[${answers.join(',')}]` : answers[0]);
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    count: () => ({ messages, recipients: recipients.size, bytes }),
    reset() {
      messages = 0;
      bytes = 0;
      recipients = new HashSet();
    },
  };
}

// Begins with a letter that is rare in mail, because that is what a search scans for. `ReplyTo` ends like it.
const mark = Buffer.from('To":"');
const quote = 0x22;
// The rest of a piece of a body, followed by the next piece.
let seam = Buffer.allocUnsafe(256 * 1024);

// Found by search, in the pieces in which a body comes, and not by parsing: the sink stands for a machine elsewhere, so it
// should cost next to nothing here. Inside a JSON string the mark's quotes would be escaped, so it stands nowhere but where a
// message names its recipient. Answers the size of the body.
function readRecipients(
  request: IncomingMessage,
  found: (body: Buffer, from: number, to: number) => void,
): Promise<number> {
  return new Promise((resolve, reject) => {
    let rest = Buffer.alloc(0);
    let bytes = 0;
    request.on('data', (piece: Buffer) => {
      bytes += piece.length;
      const length = rest.length + piece.length;
      if (length > seam.length) seam = Buffer.allocUnsafe(2 * length);
      seam.set(rest);
      seam.set(piece, rest.length);
      const body = seam.subarray(0, length);
      let kept = Math.max(0, length - mark.length);
      for (let at = body.indexOf(mark); at !== -1; at = body.indexOf(mark, at + 1)) {
        if (at === 0 || body[at - 1] !== quote) continue;
        const from = at + mark.length;
        const to = body.indexOf(quote, from);
        if (to === -1) {
          kept = at - 1;
          break;
        }
        found(body, from, to);
        kept = Math.max(kept, to);
      }
      rest = Buffer.from(body.subarray(kept));
    });
    request.on('end', () => resolve(bytes));
    request.on('error', reject);
  });
}
