import type { IncomingMessage, Server, ServerResponse } from 'node:http';

/** How fast a body has to come. Only time in which the server waits for the client counts. */
export interface BodyRate {
  /** Milliseconds to begin with. */
  startMs: number;
  /** Each so many bytes give another second. */
  bytesPerSecond: number;
  /** How often it is checked, in milliseconds. */
  checkMs: number;
}

/** Slower than any line in use: 16 kbit a second, after half a minute. */
export const usualBodyRate: BodyRate = { startMs: 30_000, bytesPerSecond: 2_000, checkMs: 1_000 };

interface Upload {
  request: IncomingMessage;
  response: ServerResponse;
  bytesBefore: number;
  waitedMs: number;
}

/** Answers 408 to requests whose bodies come more slowly than the rate, and cuts their connections. */
export function watchBodies(server: Server, rate: BodyRate, tooSlow: (response: ServerResponse) => string): void {
  const uploads = new Set<Upload>();
  server.on('request', (request, response) => {
    if (!hasBody(request)) return;
    const upload = { request, response, bytesBefore: request.socket.bytesRead, waitedMs: 0 };
    uploads.add(upload);
    request.once('close', () => uploads.delete(upload));
  });
  const timer = setInterval(() => {
    for (const upload of uploads) check(upload);
  }, rate.checkMs).unref();
  server.once('close', () => clearInterval(timer));

  function check(upload: Upload): void {
    const { request, response, bytesBefore } = upload;
    if (request.complete) {
      uploads.delete(upload);
      return;
    }
    // What has come waits for us: a slow reader here is no slow client.
    if (request.readableLength > 0) return;
    upload.waitedMs += rate.checkMs;
    const allowedMs = rate.startMs + ((request.socket.bytesRead - bytesBefore) / rate.bytesPerSecond) * 1_000;
    if (upload.waitedMs <= allowedMs) return;
    uploads.delete(upload);
    refuse(request, response, tooSlow);
  }
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  tooSlow: (response: ServerResponse) => string,
): void {
  if (response.headersSent) {
    request.destroy();
    return;
  }
  response.shouldKeepAlive = false;
  response.writeHead(408, { 'Content-Type': 'application/json; charset=utf-8' });
  // Node takes the request for served once it is answered: whoever still reads its body must hear of it.
  response.end(tooSlow(response), () => request.destroy());
}
