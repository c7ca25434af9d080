import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { isFull } from '../support/long.ts';

const program = fileURLToPath(new URL('../../src/main/drill.ts', import.meta.url));

/** Runs a drill; answers its status, and what it said. */
async function drilled(...args: string[]): Promise<{ code: number | null; said: string }> {
  const drill = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void drill.kill('SIGTERM'));
  let said = '';
  for (const output of [drill.stdout, drill.stderr])
    output.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
  const [code] = (await once(drill, 'close')) as [number | null];
  return { code, said };
}

test('a drill: everything is killed under a campaign, its provider fails in every way, and the balance sheet balances', async () => {
  const { code, said } = await drilled('--recipients', '1500', '--rounds', '1', '--minutes', '30');

  expect(code, said).toBe(0);
  expect(said).toMatch(/recipients +1,500 of 1,500 in the ledger\n/);
  expect(said).toMatch(/verdicts +1,500 handed over, 0 skipped, 0 failed, 0 open\n/);
  expect(said).toMatch(/messages at the sink +1,500\n/);
  expect(said).toMatch(/\n {2}missing +0\n {2}twice +0\n/);
  expect(said).toMatch(/kill -9 +worker 1, api 1, postgres 1, temporal 1\n/);
  const folder = /The stack is ready in (\S+)/.exec(said)?.[1];
  expect(folder).toBeDefined();
  expect(existsSync(folder ?? '')).toBe(false);
});

// A second stack costs as much as the first, and tests of workflows stop canaries too, over fewer kills.
test.runIf(isFull)(
  'a canary: its bounces stop the campaign over a kill of every process, and cancelling the rest adds up',
  async () => {
    const { code, said } = await drilled(
      ...['--canary', '--cancel', '--recipients', '600', '--rounds', '1', '--minutes', '30'],
    );

    expect(code, said).toBe(0);
    expect(said).toMatch(/canary +30 of 600, of whom 2 bounced\n/);
    expect(said).toMatch(/stopped +canary_bounce_rate: [12] of 30, limit 3%\n/);
    expect(said).toMatch(/\n {4}outside the canary +0\n/);
    expect(said).toMatch(/cancelled +30 handed over, 570 skipped, 0 failed\n/);
    for (const victim of ['worker', 'api', 'postgres', 'temporal', 'sandbox']) expect(said).toContain(`${victim} 1`);
  },
);
