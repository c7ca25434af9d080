import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** A wire to a server that a test can cut and mend: what runs over it sees an outage of the network. */
export interface TcpProxy extends AsyncDisposable {
  /** host:port to connect to. */
  address: string;
  /** Refuses new connections and breaks those that are open. */
  cut(): Promise<void>;
  /** Lets connections through again, on the same port. */
  mend(): Promise<void>;
  /** From now on keeps connections open and passes nothing on, as a network does that loses every packet. */
  freeze(): void;
}

/** Starts a proxy to host:port on a free port of this machine. */
export async function tcpProxy(target: string): Promise<TcpProxy> {
  const [host = '127.0.0.1', port = '0'] = target.split(':');
  const open = new Set<Socket>();
  let server: Server | null = null;
  let ownPort = 0;
  let isFrozen = false;

  const mend = async () => {
    server = createServer((inbound) => {
      const outbound = connect(Number(port), host);
      for (const [socket, other] of [
        [inbound, outbound],
        [outbound, inbound],
      ] as const) {
        open.add(socket);
        socket.on('error', () => other.destroy());
        socket.on('close', () => {
          open.delete(socket);
          other.destroy();
        });
      }
      if (!isFrozen) inbound.pipe(outbound).pipe(inbound);
    });
    server.listen(ownPort, '127.0.0.1');
    await once(server, 'listening');
    ownPort = (server.address() as AddressInfo).port;
  };
  const cut = async () => {
    const closing = server;
    server = null;
    if (closing === null) return;
    const closed = once(closing, 'close');
    closing.close();
    for (const socket of open) socket.destroy();
    await closed;
  };
  const freeze = () => {
    isFrozen = true;
    for (const socket of open) {
      socket.unpipe();
      socket.pause();
    }
  };
  await mend();
  return { address: `127.0.0.1:${ownPort}`, cut, mend, freeze, [Symbol.asyncDispose]: cut };
}
