import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';

/** How fast a body has to come. Only time in which the server waits for the client counts. */
interface BodyRate {
  /** Milliseconds to begin with. */
  startMs: number;
  /** Each so many bytes give another second. */
  bytesPerSecond: number;
  /** How often it is checked, in milliseconds. */
  checkMs: number;
}

/** Slower than any line in use: 16 kbit a second, after half a minute. */
const usualBodyRate: BodyRate = { startMs: 30_000, bytesPerSecond: 2_000, checkMs: 1_000 };

interface Upload {
  request: IncomingMessage;
  response: ServerResponse;
  bytesBefore: number;
  waitedMs: number;
}

/** Answers 408 to requests whose bodies come more slowly than the rate, and cuts their connections. */
function watchBodies(server: Server, rate: BodyRate, tooSlow: (response: ServerResponse) => string): void {
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
    // Bytes have arrived and wait for us: a slow reader here is no slow client.
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

/** How long a server waits for its clients. Times are in milliseconds. */
export interface ServerLimits {
  /** Until the headers of a request are complete. */
  headersMs: number;
  /** Until a request is complete, however fast its body comes. */
  requestMs: number;
  /** How fast a body has to come. */
  body: BodyRate;
  /** While an answer is ready and its reader takes nothing of it. */
  unreadMs: number;
  /** Between two requests of a connection. Longer than load balancers wait, which must be the ones to close it. */
  keepAliveMs: number;
}

/** Limits for servers that anybody may reach: a body may take an hour, for the largest ones on slow lines. */
export const usualLimits: ServerLimits = {
  headersMs: 30_000,
  requestMs: 3_600_000,
  body: usualBodyRate,
  unreadMs: 120_000,
  keepAliveMs: 65_000,
};

interface ServeOptions {
  /** The port; 0 takes any free one. */
  port: number;
  host: string;
  limits?: ServerLimits;
  /** The body, as JSON, of the 408 for a request whose body comes too slowly. */
  tooSlow?(response: ServerResponse): string;
}

interface StopOptions {
  /** How long requests under way may take; those that are left are cut. */
  graceMs: number;
  /**
   * How long connections without a request stay open, for requests that are already on their way. They are answered and
   * end with `Connection: close`.
   */
  lingerMs?: number;
}

export interface RunningServer {
  port: number;
  /** Takes no new connections, lets requests under way finish, and closes each connection with its last answer. Answers how many were cut. */
  stop(options: StopOptions): Promise<number>;
}

/**
 * Starts an HTTP server that cuts clients which send or read too slowly. Rejects with the system's error, such as
 * `EADDRINUSE`, when it cannot listen.
 */
export async function serve(
  listener: (request: IncomingMessage, response: ServerResponse) => unknown,
  { port, host, limits = usualLimits, tooSlow = () => '{"error":"The request came too slowly"}' }: ServeOptions,
): Promise<RunningServer> {
  const server = createServer({
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.keepAliveMs,
    connectionsCheckingInterval: Math.min(5_000, limits.headersMs),
  });
  const connections = followConnections(server, limits.unreadMs);
  watchBodies(server, limits.body, tooSlow);
  server.on('request', listener);
  const listening = once(server, 'listening');
  server.listen(port, host);
  await listening;
  let stopped: Promise<number> | null = null;
  return {
    port: (server.address() as AddressInfo).port,
    stop(options) {
      stopped ??= stopServer(server, connections, options);
      return stopped;
    },
  };
}

interface Connections {
  /** From now on connections end with their next answer. */
  drain(): void;
  closeIdle(): void;
  /** Requests without a complete answer. */
  underWay(): number;
}

function followConnections(server: Server, unreadMs: number): Connections {
  const open = new Map<Socket, Set<ServerResponse>>();
  let draining = false;
  server.on('connection', (socket) => {
    open.set(socket, new Set());
    socket.once('close', () => open.delete(socket));
  });
  server.on('request', (request, response) => {
    const { socket } = request;
    const responses = open.get(socket);
    responses?.add(response);
    if (draining) response.shouldKeepAlive = false;
    response.once('close', () => {
      responses?.delete(response);
      // An answer that had begun before could not say that the connection ends with it.
      if (draining && responses?.size === 0) socket.destroySoon();
    });
  });
  // Fires when nothing was read from or written to a connection for so long, whatever it waits for.
  server.timeout = unreadMs;
  server.on('timeout', (socket) => {
    const isAnswering = (open.get(socket)?.size ?? 0) > 0;
    // Whoever waits for an answer that is still being made has done nothing wrong.
    if (!isAnswering || socket.writableLength > 0) socket.destroy();
  });
  return {
    drain() {
      draining = true;
      for (const responses of open.values())
        for (const response of responses) if (!response.headersSent) response.shouldKeepAlive = false;
    },
    closeIdle() {
      for (const [socket, responses] of open) if (responses.size === 0) socket.destroySoon();
    },
    underWay: () => [...open.values()].reduce((sum, responses) => sum + responses.size, 0),
  };
}

async function stopServer(
  server: Server,
  connections: Connections,
  { graceMs, lingerMs = 0 }: StopOptions,
): Promise<number> {
  const closed = once(server, 'close');
  connections.drain();
  // Not the method of http.Server, which closes connections without a request at once.
  NetServer.prototype.close.call(server);
  let cut = 0;
  const timers = [
    setTimeout(() => connections.closeIdle(), lingerMs),
    setTimeout(() => {
      cut = connections.underWay();
      server.closeAllConnections();
    }, graceMs),
  ];
  await closed;
  for (const timer of timers) clearTimeout(timer);
  // Ends its timer that looks for slow headers.
  server.close();
  return cut;
}
