import { type Profiler, Session } from 'node:inspector';
import { setFlagsFromString } from 'node:v8';

let session: Session | null = null;
// The runner of the tests may do something of its own meanwhile.
const foreign = /^(?:node:|$)|\/(?:vitest|@vitest|vite|tinyrainbow|chai)\/|\/test\//;

/**
 * How many steps some work takes: how often V8 entered a function, a loop or a branch while it ran, in our code and that of
 * libraries. No clock is involved, so that the same work counts the same on any machine. What built-in functions and regular
 * expressions do inside is not counted.
 */
export function countSteps(work: () => void): number {
  if (session === null) {
    // Else counts are lost with code that is thrown away or made anew.
    for (const flag of ['--no-flush-bytecode', '--no-opt', '--no-sparkplug', '--no-maglev']) setFlagsFromString(flag);
    session = new Session();
    session.connect();
    call('Profiler.enable');
    call('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }
  // The first report discards the counts from before.
  call('Profiler.takePreciseCoverage');
  work();
  const { result } = call<{ result: Profiler.ScriptCoverage[] }>('Profiler.takePreciseCoverage');
  let steps = 0;
  for (const { url, functions } of result) {
    if (foreign.test(url)) continue;
    for (const { ranges } of functions) for (const { count } of ranges) steps += count;
  }
  return steps;
}

function call<T>(method: string, params: object = {}): T {
  let answer: T | undefined;
  session?.post(method, params, (error: Error | null, result: unknown) => {
    if (error) throw new Error(error.message);
    answer = result as T;
  });
  return answer as T;
}

/**
 * How many times as many steps four times the input takes: 4 where they grow in proportion to it, 16 where they grow with its
 * square.
 */
export function growth(work: (size: number) => () => void, size: number): number {
  const [small, large] = [work(size), work(4 * size)];
  small();
  return countSteps(large) / countSteps(small);
}

/** The growth from which work is no longer in proportion to its input. */
export const linear = 8;
