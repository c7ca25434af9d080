/** Turns of an event loop since the last question, in milliseconds of processor time, which other work of the machine does not change. */
export interface Turns {
  /** The 99th percentile. */
  p99: number;
  longest: number;
}

/** Begins to measure the turns of this process's event loop. Returns what answers them, and begins anew. */
export function watchTurns(): () => Turns {
  let turns: number[] = [];
  let before = process.threadCpuUsage();
  setInterval(() => {
    const now = process.threadCpuUsage();
    turns.push((now.user - before.user + now.system - before.system) / 1_000);
    before = now;
  }, 1).unref();
  return () => {
    const inOrder = turns.sort((one, other) => one - other);
    turns = [];
    return { p99: inOrder[Math.ceil(inOrder.length * 0.99) - 1] ?? 0, longest: inOrder.at(-1) ?? 0 };
  };
}
