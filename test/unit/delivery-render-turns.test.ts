import { expect, test } from 'vitest';
import { RenderTurns } from '../../src/delivery/render-turns.ts';

function turns() {
  let now = 0;
  const clock = {
    now: () => now,
    pause: (ms: number) => {
      now += ms;
      return Promise.resolve();
    },
  };
  return { turns: new RenderTurns(clock), at: () => now, pass: (ms: number) => (now += ms) };
}

test('a project with slow messages waits after each, for 15 times as long as it took; others never wait', async () => {
  const { turns: of, at, pass } = turns();
  pass(100);
  expect(of.note('slow', 100)).toBe(true);
  await of.turn('quick');
  expect(at()).toBe(100);
  await of.turn('slow');
  expect(at()).toBe(1_600);
  expect(of.note('slow', 2)).toBe(false);
  await of.turn('slow');
  expect(at()).toBe(1_600);
});

test('several projects with slow messages share one turn, and are forgotten when their messages are quick for a minute', async () => {
  const { turns: of, at, pass } = turns();
  of.note('a', 50);
  of.note('b', 50);
  await of.turn('a');
  expect(at()).toBe(1_500);
  of.note('a', 10_000);
  await of.turn('b');
  expect(at()).toBe(3_500);
  pass(61_000);
  of.note('a', 100);
  const before = at();
  await of.turn('b');
  expect(at()).toBe(before);
});
