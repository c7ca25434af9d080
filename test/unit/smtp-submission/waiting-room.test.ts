import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { WaitingRoom } from '../../../src/mail/smtp/waiting-room.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

let ports = 0;
const socketOf = (remoteAddress: string) =>
  Object.assign(new EventEmitter(), { remoteAddress, remotePort: ++ports }) as unknown as Socket;
function room(perNetwork = 1) {
  const late: Socket[] = [];
  return { late, room: new WaitingRoom({ perNetwork, ms: 1_000, onLate: (socket) => late.push(socket) }) };
}

test.each([
  ['an IPv4 /24', ['192.0.2.1', '192.0.2.200', '::ffff:192.0.2.7'], '192.0.3.1'],
  ['an IPv6 /64', ['2001:db8:1:2::1', '2001:db8:1:2:ffff::9'], '2001:db8:1:3::1'],
])('%s is one network', (_, [first = '', ...same], other) => {
  const { room: waiting } = room();
  expect(waiting.enter(socketOf(first))).toBe(true);
  for (const address of same) expect(waiting.enter(socketOf(address))).toBe(false);
  expect(waiting.enter(socketOf(other))).toBe(true);
});

test('whoever signs in or closes leaves once, and is not late', () => {
  const { room: waiting, late } = room(2);
  const [first, second] = [socketOf('::ffff:192.0.2.1'), socketOf('192.0.2.2')];
  expect([waiting.enter(first), waiting.enter(second), waiting.enter(socketOf('192.0.2.3'))]).toEqual([
    true,
    true,
    false,
  ]);
  waiting.signedIn('192.0.2.1', first.remotePort ?? 0);
  first.emit('close');
  expect([waiting.enter(socketOf('192.0.2.4')), waiting.enter(socketOf('192.0.2.5'))]).toEqual([true, false]);
  vi.advanceTimersByTime(1_000);
  expect(late).toHaveLength(2);
  expect(late).not.toContain(first);
});
