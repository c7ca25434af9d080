import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server that listens. */
export interface HttpServer {
  port: number;
  /** Takes no new connections, and cuts requests that are still under way after so many milliseconds. */
  stop(graceMs: number): Promise<void>;
}

/** Starts an HTTP server. Rejects with the system's error, such as `EADDRINUSE`, when it cannot listen. */
export async function listen(listener: RequestListener, host: string, port: number): Promise<HttpServer> {
  let stopping = false;
  // Longer than clients keep idle connections, so that none is closed while a request is on its way.
  const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
    if (stopping) response.shouldKeepAlive = false;
    response.once('close', () => {
      if (stopping) setImmediate(() => server.closeIdleConnections());
    });
    listener(request, response);
  });
  server.listen(port, host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async stop(graceMs) {
      stopping = true;
      const closed = once(server, 'close');
      server.close();
      const timer = setTimeout(() => server.closeAllConnections(), graceMs);
      await closed;
      clearTimeout(timer);
    },
  };
}
