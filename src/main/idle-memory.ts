import { flushCompileCache } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const checkEveryMs = 10_000;
// Timers, polls and health checks of a process without work take less.
const busyShare = 0.15;

/**
 * Gives memory back to the system when this process has had little to do for ten seconds, once after each time it was busy. V8
 * keeps what a start or a burst needed until the next full collection, which without work never comes (measured: 40 to 100 MB).
 */
export function releaseMemoryWhenIdle(): void {
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
