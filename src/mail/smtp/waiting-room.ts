import type { Socket } from 'node:net';
import ipaddr from 'ipaddr.js';

/** A reply that refuses: code and enhanced status code (RFC 5321, 4.2; RFC 3463), and a sentence. */
export class SmtpReply extends Error {
  readonly responseCode: number;

  constructor(responseCode: number, enhanced: string, sentence: string) {
    // A reply is one line of at most 512 bytes (RFC 5321, 4.5.3.1.5).
    super(`${enhanced} ${sentence.slice(0, 400)}`);
    this.responseCode = responseCode;
  }

  /** The whole reply, code first. */
  get line(): string {
    return `${this.responseCode} ${this.message}`;
  }
}

/** How many connections of one network may be open without a sign-in, and for how long each. */
interface WaitingLimits {
  perNetwork: number;
  ms: number;
  /** A connection has not signed in in time. */
  onLate(socket: Socket): void;
}

/** Keeps account of the connections that have not signed in, so that one network cannot take the places of all others. */
export class WaitingRoom {
  readonly #limits: WaitingLimits;
  readonly #networks = new Map<string, number>();
  readonly #leave = new Map<string, () => void>();

  constructor(limits: WaitingLimits) {
    this.#limits = limits;
  }

  /** Counts a new connection until it signs in or closes. False where its network has too many of them. */
  enter(socket: Socket): boolean {
    const { perNetwork, ms, onLate } = this.#limits;
    const { remoteAddress = '', remotePort = 0 } = socket;
    const network = networkOf(remoteAddress);
    const there = this.#networks.get(network) ?? 0;
    if (there >= perNetwork) return false;
    this.#networks.set(network, there + 1);
    const key = keyOf(remoteAddress, remotePort);
    const timer = setTimeout(onLate, ms, socket).unref();
    const leave = () => {
      if (this.#leave.get(key) !== leave) return;
      clearTimeout(timer);
      this.#leave.delete(key);
      const left = (this.#networks.get(network) ?? 1) - 1;
      if (left > 0) this.#networks.set(network, left);
      else this.#networks.delete(network);
    };
    this.#leave.set(key, leave);
    socket.once('close', leave);
    return true;
  }

  /** The connection from this address and port has signed in. */
  signedIn(remoteAddress: string, remotePort: number): void {
    this.#leave.get(keyOf(remoteAddress, remotePort))?.();
  }
}

/** Whether a connection comes from this address and port, however either writes it. */
export function isFrom(socket: Socket, remoteAddress: string, remotePort: number): boolean {
  return keyOf(socket.remoteAddress ?? '', socket.remotePort ?? 0) === keyOf(remoteAddress, remotePort);
}

function keyOf(address: string, port: number): string {
  return `${ipaddr.isValid(address) ? ipaddr.process(address).toString() : address} ${port}`;
}

// What one customer of a provider is usually given.
function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  const bytes = parsed.toByteArray();
  return bytes.slice(0, bytes.length === 4 ? 3 : 8).join('.');
}
