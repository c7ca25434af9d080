// Ctrl-C in a terminal reaches a process twice when npm runs it: from the terminal, and handed on by npm.
const oneSignalMs = 1_000;

/** Resolves at the first SIGTERM or SIGINT; another one, a second or more later, ends the process at once. */
export function untilToldToStop(): Promise<void> {
  return new Promise((resolve) => {
    let toldAt: number | null = null;
    const stop = () => {
      if (toldAt === null) {
        toldAt = performance.now();
        resolve();
      } else if (performance.now() - toldAt >= oneSignalMs) process.exit(1);
    };
    process.on('SIGTERM', stop);
    process.on('SIGINT', stop);
  });
}

/** Does what is left to do before the end, and ends the process: with status 1 when it takes longer than the limit. */
export async function finishAndExit(work: () => Promise<void>, limitMs: number): Promise<never> {
  setTimeout(() => process.exit(1), limitMs).unref();
  await work();
  process.exit(0);
}
