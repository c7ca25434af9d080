import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** A port in front of a server that can be shut and opened again, as if the server stopped and came back. */
export interface Door extends AsyncDisposable {
  /** host:port to connect to. */
  readonly address: string;
  /** Refuses connections and cuts those that are open. */
  shut(): Promise<void>;
  /** Lets connections through. */
  open(): Promise<void>;
}

/** Makes a door to `target` (host:port). It is shut at first. */
export async function doorTo(target: string): Promise<Door> {
  const [host, port] = [target.slice(0, target.lastIndexOf(':')), Number(target.slice(target.lastIndexOf(':') + 1))];
  const sockets = new Set<Socket>();
  let server: Server | null = null;
  let ownPort = 0;

  const open = async () => {
    if (server !== null) return;
    server = createServer((incoming) => {
      const outgoing = connect(port, host);
      for (const [from, to] of [
        [incoming, outgoing],
        [outgoing, incoming],
      ] as const) {
        sockets.add(from);
        from.on('error', () => to.destroy());
        from.on('close', () => {
          sockets.delete(from);
          to.destroy();
        });
        from.pipe(to);
      }
    });
    server.listen(ownPort, '127.0.0.1');
    await once(server, 'listening');
    ownPort = (server.address() as { port: number }).port;
  };
  const shut = async () => {
    if (server === null) return;
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    server = null;
    await closed;
  };
  // Opened once to have a port that stays the same.
  await open();
  await shut();
  return { address: `127.0.0.1:${ownPort}`, open, shut, [Symbol.asyncDispose]: shut };
}
