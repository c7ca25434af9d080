import { reasonOf, type Terminal } from '../terminal.ts';
import { killGroup } from './command.ts';
import type { RunningProcess } from './launch.ts';
import type { LogFile } from './log-file.ts';

/** One process that is to run for as long as the service does. */
export interface SupervisedPart {
  name: string;
  /** How a person calls it. */
  label: string;
  start(): Promise<RunningProcess>;
  log: LogFile;
  /** How long it may take to stop before it is killed. */
  stopLimitMs: number;
}

/** A part that runs, and is started again when it ends although nobody asked it to. */
export interface Supervised {
  name: string;
  part: SupervisedPart;
  /** Says that the start has succeeded: from now on it is started again when it ends unasked. */
  settle(): void;
  /** Stops it for good, by force when it takes longer than its limit. */
  stop(): Promise<void>;
  /** Kills it, for when nobody wants to wait any longer. */
  kill(): void;
  /** Resolves, with a few words, when it ends unasked; with null when it was stopped. */
  firstEnd: Promise<string | null>;
}

/** Settings of the back-off, in milliseconds. */
export interface BackOff {
  first: number;
  longest: number;
  /** A process that ran this long is taken to have been well, and the next pause is the first one again. */
  wellAfter: number;
}

const usualBackOff: BackOff = { first: 1_000, longest: 30_000, wellAfter: 60_000 };

/** Starts a part and, once that has been settled, keeps it running. */
export async function keepRunning(
  part: SupervisedPart,
  terminal: Terminal,
  onStarted: (name: string, pid: number) => void,
  backOff: BackOff = usualBackOff,
): Promise<Supervised> {
  let current = await part.start();
  let stopping = false;
  let wake = () => {};
  let settle = () => {};
  const settled = new Promise<void>((resolve) => {
    settle = resolve;
  });
  let reportFirstEnd: (how: string | null) => void = () => {};
  const firstEnd = new Promise<string | null>((resolve) => {
    reportFirstEnd = resolve;
  });
  onStarted(part.name, current.pid);

  const watch = async () => {
    let pause = backOff.first;
    let startedAt = Date.now();
    let how = await current.exited;
    reportFirstEnd(stopping ? null : how);
    await settled;
    while (!stopping) {
      if (Date.now() - startedAt >= backOff.wellAfter) pause = backOff.first;
      terminal.line(
        `${part.label} ${how} and starts again in ${pause / 1000} s. Its last lines, from ${part.log.path}:`,
      );
      for (const line of part.log.tail(3)) terminal.line(`  ${line.slice(0, 300)}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, pause);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      pause = Math.min(pause * 2, backOff.longest);
      if (stopping) return;
      startedAt = Date.now();
      try {
        current = await part.start();
        onStarted(part.name, current.pid);
        terminal.line(`${part.label} was started again`);
        if (stopping) await current.stop(part.stopLimitMs);
        how = await current.exited;
      } catch (error) {
        how = `did not start (${reasonOf(error)})`;
      }
    }
  };
  const watching = watch();

  return {
    name: part.name,
    part,
    firstEnd,
    settle: () => settle(),
    kill: () => {
      if (!current.hasExited()) killGroup(current.pid, 'SIGKILL');
    },
    async stop() {
      stopping = true;
      settle();
      wake();
      const inTime = await current.stop(part.stopLimitMs);
      if (!inTime) terminal.line(`${part.label} did not stop within ${part.stopLimitMs / 1000} s and was killed`);
      await watching;
    },
  };
}
