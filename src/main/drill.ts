import { reasonOf, StartError, shortPath } from '@posthorn/local-stack';
import { readOptions } from './drill/options.ts';
import { balanceSheet, succeeded } from './drill/report.ts';
import { drillSettings, runDrill } from './drill/run.ts';
import { type Stack, startStack } from './drill/stack.ts';

const say = (line: string) => console.log(line);
const stopping = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(name, () => {
    if (!stopping.signal.aborted) say('Stopping the drill');
    stopping.abort();
  });

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2));
  say(
    `Drill with seed ${options.seed}: a campaign to ${options.recipients.toLocaleString('en-US')} people, on a stack of its own`,
  );
  let stack: Stack | null = null;
  let keep = true;
  try {
    stack = await startStack(drillSettings(options), stopping.signal);
    say(`The stack is ready in ${stack.dataDir}`);
    const result = await runDrill(stack, options, say, AbortSignal.any([stopping.signal, stack.lost]));
    for (const line of balanceSheet(result, options.recipients)) say(line);
    const good = succeeded(result, options.recipients);
    keep = options.keep || !good;
    return good ? 0 : 1;
  } finally {
    if (stopping.signal.aborted) keep = options.keep;
    if (stack !== null) {
      await stack.stop(keep);
      if (keep)
        say(`Data and logs are kept in ${shortPath(stack.dataDir)}; the same drill again: --seed ${options.seed}`);
    }
  }
}

try {
  process.exitCode = await main();
} catch (error) {
  if (!stopping.signal.aborted)
    for (const line of error instanceof StartError ? error.lines : [reasonOf(error)]) console.error(`drill: ${line}`);
  process.exitCode = stopping.signal.aborted ? 130 : 1;
}
