import { reasonOf, StartError, shortPath } from '@fernpost/local-stack';
import { balanceSheet, succeeded } from './balance.ts';
import { canarySheet, canarySucceeded } from './canary/report.ts';
import { canarySettings, runCanaryDrill } from './canary/run.ts';
import { type DrillOptions, readOptions } from './plan.ts';
import { drillSettings, runDrill } from './run.ts';
import { type DrilledService, type Stack, startStack } from './stack.ts';

export { type Call, client } from './letters.ts';
export type { Victim } from './plan.ts';
export { type DrilledService, startStack } from './stack.ts';

const say = (line: string) => console.log(line);
/**
 * Runs the drill and prints its balance sheet. Answers the status for the process: 0 when everything is accounted for.
 * `service` says how to start the service that is drilled, `args` is the command line.
 */
export async function drill(service: DrilledService, args: readonly string[]): Promise<number> {
  const stopping = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(name, () => {
      if (!stopping.signal.aborted) say('Stopping the drill');
      stopping.abort();
    });
  try {
    return await perform(service, args, stopping.signal);
  } catch (error) {
    if (stopping.signal.aborted) return 130;
    for (const line of error instanceof StartError ? error.lines : [reasonOf(error)]) console.error(`drill: ${line}`);
    return 1;
  }
}

/** A balance sheet, and whether it balances. */
interface Sheet {
  lines: string[];
  good: boolean;
}

async function campaignSheet(stack: Stack, options: DrillOptions, stop: AbortSignal): Promise<Sheet> {
  const result = await runDrill(stack, options, say, stop);
  return { lines: balanceSheet(result, options.recipients), good: succeeded(result, options.recipients) };
}

async function canaryStopSheet(stack: Stack, options: DrillOptions, stop: AbortSignal): Promise<Sheet> {
  const result = await runCanaryDrill(stack, options, say, stop);
  return { lines: canarySheet(result, options), good: canarySucceeded(result, options) };
}

async function perform(service: DrilledService, args: readonly string[], signal: AbortSignal): Promise<number> {
  const options = readOptions(args);
  say(
    `Drill with seed ${options.seed}: a campaign to ${options.recipients.toLocaleString('en-US')} people, on a stack of its own`,
  );
  let stack: Stack | null = null;
  let keep = true;
  try {
    const settings = options.canary === null ? drillSettings(options) : canarySettings(options);
    stack = await startStack(service, settings, signal);
    say(`The stack is ready in ${stack.dataDir}`);
    const run = options.canary === null ? campaignSheet : canaryStopSheet;
    const { lines, good } = await run(stack, options, AbortSignal.any([signal, stack.lost]));
    for (const line of lines) say(line);
    keep = options.keep || !good;
    return good ? 0 : 1;
  } finally {
    if (signal.aborted) keep = options.keep;
    if (stack !== null) {
      await stack.stop(keep);
      if (keep)
        say(`Data and logs are kept in ${shortPath(stack.dataDir)}; the same drill again: --seed ${options.seed}`);
    }
  }
}
