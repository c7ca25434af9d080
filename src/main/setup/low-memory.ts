import { flushCompileCache } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const checkEveryMs = 10_000;
// Timers, polls and health checks of a process without work take less.
const busyShare = 0.15;

// By how much the heap may grow beyond what was live at its last full collection, in percent. On a machine with much memory V8 lets it grow
// to three times that: 700 MB of `npm start` under load where these are 450, at the same rate of requests.
const heapGrowth = 60;

/**
 * Keeps the heap near what is live in it, and gives memory back to the system when this process has had little to do for ten seconds, once
 * after each time it was busy. V8 keeps what a start or a burst needed until the next full collection, which without work never
 * comes (measured: 40 to 100 MB).
 */
export function keepMemoryLow(): void {
  setFlagsFromString(`--heap-growing-percent=${heapGrowth}`);
  let wasBusy = true;
  let before = process.cpuUsage();
  const check = () => {
    const { user, system } = process.cpuUsage(before);
    before = process.cpuUsage();
    const isBusy = user + system > busyShare * checkEveryMs * 1_000;
    if (wasBusy && !isBusy) collect();
    wasBusy = isBusy;
  };
  setInterval(check, checkEveryMs).unref();
}

// The flag makes `gc` in contexts that are made later, not in ours.
function collect(): void {
  flushCompileCache();
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as NodeJS.GCFunction;
  setFlagsFromString('--no-expose-gc');
  void gc({ type: 'major', flavor: 'last-resort', execution: 'async' });
}
