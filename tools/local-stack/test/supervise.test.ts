import { spawn } from 'node:child_process';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { runCommand } from '../src/process/command.ts';
import { launch } from '../src/process/launch.ts';
import { openLog, surfaceErrors } from '../src/process/log-file.ts';
import { commandOf, identityOf, isAlive, takeDataDir } from '../src/process/run-file.ts';
import { keepRunning } from '../src/process/supervise.ts';
import { StartError, StartInterrupted } from '../src/terminal.ts';
import { eventually, fakeTerminal, script, temporaryFolder } from './fakes.ts';

const quick = { first: 20, longest: 80, wellAfter: 60_000 };

function partOf(folder: string, body: string, stopLimitMs = 5_000) {
  const log = openLog(join(folder, 'part.log'));
  const command = script(join(folder, 'part.sh'), body);
  const start = () =>
    launch({ command, args: [], env: process.env, log, stopSignal: 'SIGTERM', orphanGraceSeconds: 0 });
  return { name: 'worker', label: 'The worker', log, stopLimitMs, start };
}

test('a process that ends unasked is started again, and the terminal says so with its last words', async () => {
  using folder = temporaryFolder();
  const terminal = fakeTerminal();
  const starts: number[] = [];
  const once = join(folder.path, 'once');
  const part = partOf(folder.path, `[ -e ${once} ] && exec sleep 60\ntouch ${once}; echo lost the connection; exit 7`);
  const worker = await keepRunning(part, terminal, (_name, pid) => void starts.push(pid), quick);
  worker.settle();
  await eventually(() => starts.length === 2);
  expect(terminal.text()).toContain('The worker ended with status 7 and starts again in 0.02 s.');
  expect(terminal.text()).toContain('  lost the connection\n');
  await worker.stop();
  expect(starts.map(identityOf)).toEqual([null, null]);
  expect(starts).toHaveLength(2);
});

test('before the start has succeeded an end is reported and nothing is started again', async () => {
  using folder = temporaryFolder();
  const starts: number[] = [];
  const part = partOf(folder.path, 'exit 3');
  const worker = await keepRunning(part, fakeTerminal(), (_name, pid) => void starts.push(pid), quick);
  await expect(worker.firstEnd).resolves.toBe('ended with status 3');
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(starts).toHaveLength(1);
  await worker.stop();
});

test('a process that does not stop in time is killed, with all that it started', async () => {
  using folder = temporaryFolder();
  const terminal = fakeTerminal();
  const child = join(folder.path, 'child');
  const part = partOf(folder.path, `trap '' TERM\nsleep 60 & echo $! > ${child}\nwhile :; do sleep 0.1; done`, 200);
  const worker = await keepRunning(part, terminal, () => {}, quick);
  await eventually(() => existsSync(child) && readFileSync(child, 'utf8').includes('\n'));
  const grandchild = identityOf(Number(readFileSync(child, 'utf8')));
  if (grandchild === null) throw new Error('the grandchild never lived');
  await worker.stop();
  expect(terminal.text()).toContain('The worker did not stop within 0.2 s and was killed');
  await eventually(() => !isAlive(grandchild));
});

test('what a supervisor started ends soon after the supervisor was killed', async () => {
  using folder = temporaryFolder();
  const moduleUrl = (name: string) => pathToFileURL(join(import.meta.dirname, '../src', name)).href;
  const drained = join(folder.path, 'drained');
  const ready = join(folder.path, 'ready');
  const server = script(
    join(folder.path, 'server.sh'),
    `trap 'echo draining; touch ${drained}; exit 0' TERM\ntouch ${ready}\nwhile :; do sleep 0.05; done`,
  );
  const supervisor = `
    import { launch } from ${JSON.stringify(moduleUrl('process/launch.ts'))};
    import { openLog } from ${JSON.stringify(moduleUrl('process/log-file.ts'))};
    const log = openLog(${JSON.stringify(join(folder.path, 'server.log'))});
    const server = await launch({ command: ${JSON.stringify(server)}, args: [], env: process.env, log,
      stopSignal: 'SIGTERM', orphanGraceSeconds: 0, remove: ${JSON.stringify(join(folder.path, 'scratch'))} });
    console.log(server.pid);
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', supervisor], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const pid = await new Promise<number>((resolve) => child.stdout.once('data', (text) => resolve(Number(text))));
  const identity = identityOf(pid);
  if (identity === null) throw new Error('the server never lived');
  await eventually(() => existsSync(ready));
  child.kill('SIGKILL');
  await eventually(() => !isAlive(identity));
  expect(existsSync(drained)).toBe(true);
});

test('a command that takes too long is ended, and an interrupted one rejects as such', async () => {
  const slow = await runCommand('sleep', ['60'], { limitMs: 50 });
  expect(slow.failure).toBe('no answer within 0.05 s');
  const interrupt = new AbortController();
  const running = runCommand('sleep', ['60'], { signal: interrupt.signal });
  interrupt.abort();
  await expect(running).rejects.toBeInstanceOf(StartInterrupted);
  const missing = await runCommand('/nowhere/program', []);
  expect(missing.failure).toBe('there is no such program');
});

test('a folder that another start is using is refused', async () => {
  using folder = temporaryFolder();
  const record = await takeDataDir(folder.path, () => {});
  await expect(takeDataDir(folder.path, () => {})).rejects.toThrow(
    `DATA_DIR ${folder.path} is in use by another npm start (process ${process.pid})`,
  );
  record.end();
  const again = await takeDataDir(folder.path, () => {});
  again.end();
});

test('processes that a killed start left behind are stopped by the next one, and no others', async () => {
  using folder = temporaryFolder();
  const left = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' });
  const innocent = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' });
  const leftIdentity = identityOf(left.pid ?? 0);
  const innocentIdentity = identityOf(innocent.pid ?? 0);
  if (leftIdentity === null || innocentIdentity === null) throw new Error('the processes never lived');
  writeFileSync(
    join(folder.path, 'run.json'),
    JSON.stringify({
      supervisor: { pid: left.pid, born: 'long ago' },
      processes: [
        { name: 'temporal', ...leftIdentity },
        // The number of a process that ended long ago, now that of another.
        { name: 'api', pid: innocentIdentity.pid, born: 'long ago' },
      ],
    }),
  );
  const said: string[] = [];
  const record = await takeDataDir(folder.path, (line) => said.push(line));
  expect(said).toEqual(['Stopping what an earlier run left behind: temporal']);
  expect(isAlive(leftIdentity)).toBe(false);
  expect(isAlive(innocentIdentity)).toBe(true);
  innocent.kill('SIGKILL');
  record.end();
});

test('a data folder that is made can be listed by its owner alone', async () => {
  using folder = temporaryFolder();
  const dataDir = join(folder.path, 'data');
  (await takeDataDir(dataDir, () => {})).end();
  expect(statSync(dataDir).mode & 0o066).toBe(0);
});

test('a folder that cannot be made names DATA_DIR', async () => {
  using folder = temporaryFolder();
  const file = script(join(folder.path, 'file'), '');
  await expect(takeDataDir(join(file, 'data'), () => {})).rejects.toThrow(StartError);
  await expect(takeDataDir(join(file, 'data'), () => {})).rejects.toThrow(/^DATA_DIR .* cannot be made/);
});

test('a process is known by when it was started and tells its command line', async () => {
  const child = spawn('sleep', ['60'], { stdio: 'ignore' });
  const identity = identityOf(child.pid ?? 0);
  if (identity === null) throw new Error('the process never lived');
  expect(commandOf(identity.pid)).toContain('sleep 60');
  expect(isAlive({ ...identity, born: `${identity.born}0` })).toBe(false);
  child.kill('SIGKILL');
  await eventually(() => !isAlive(identity));
});

test('errors of a process are shown once and counted when they go on', () => {
  const terminal = fakeTerminal();
  let now = 0;
  const write = surfaceErrors('worker', terminal, () => now);
  const failed = `${JSON.stringify({ level: 50, time: 1, msg: 'claim failed', err: { message: 'no route to host' } })}\n`;
  write(`${JSON.stringify({ level: 30, time: 1, msg: 'claimed' })}\nplain text\n`);
  write(failed.slice(0, 20));
  write(failed.slice(20) + failed + failed);
  expect(terminal.text()).toBe('[worker] claim failed: no route to host\n');
  now = 60_000;
  write(failed);
  expect(terminal.text()).toContain('claim failed: no route to host (and 2 times since the last)');
});
