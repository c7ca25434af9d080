import { expect, test } from 'vitest';
import { RenderTurns } from '../../../src/mail/engine/batch.ts';

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
  for (let i = 0; i < 2; i++) expect(of.note('slow', 100)).toBe(true);
  await of.turn('slow');
  expect([of.isSlow('slow'), at()]).toEqual([false, 100]);
  of.note('slow', 100);
  await of.turn('quick');
  expect(at()).toBe(100);
  await of.turn('slow');
  expect([of.isSlow('slow'), at()]).toEqual([true, 1_600]);
  expect(of.note('slow', 2)).toBe(false);
});

test('a project whose messages are seldom slow takes no turns', () => {
  const { turns: of } = turns();
  for (let i = 0; i < 50; i++) {
    of.note('a', 100);
    for (let n = 0; n < 20; n++) of.note('a', 1);
    expect(of.isSlow('a')).toBe(false);
  }
});

test('several projects with slow messages share one turn, and are forgotten after a minute', async () => {
  const { turns: of, at, pass } = turns();
  for (let i = 0; i < 3; i++) for (const project of ['a', 'b']) of.note(project, 50);
  await of.turn('a');
  expect(at()).toBe(1_500);
  of.note('a', 10_000);
  await of.turn('b');
  expect(at()).toBe(3_500);
  pass(61_000);
  expect([of.isSlow('a'), of.isSlow('b')]).toEqual([false, false]);
});
