import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a sink has taken since it was last reset. */
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
  let recipients = new Set<string>();
  const server = createServer(async (request, response) => {
    const body = await read(request);
    if (request.method === 'GET') return void response.end('{"TotalCount":0,"Messages":[]}');
    bytes += body.length;
    const at = new Date().toISOString();
    const answers = recipientsOf(body).map((To) => {
      recipients.add(To);
      return { ErrorCode: 0, Message: 'OK', MessageID: randomUUID(), SubmittedAt: at, To };
    });
    messages += answers.length;
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(request.url?.endsWith('/batch') ? answers : answers[0]));
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
      recipients = new Set();
    },
  };
}

const mark = Buffer.from('"To":"');

// Found by search and not by parsing: the sink stands for a machine elsewhere, so it should cost next to nothing here. Inside
// a JSON string the mark's quotes would be escaped, so it stands nowhere but where a message names its recipient.
function recipientsOf(body: Buffer): string[] {
  const found: string[] = [];
  for (let at = body.indexOf(mark); at !== -1; at = body.indexOf(mark, at)) {
    at += mark.length;
    found.push(body.toString('latin1', at, body.indexOf(0x22, at)));
  }
  return found;
}

function read(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => resolve(Buffer.concat(chunks)));
    request.on('error', reject);
  });
}
