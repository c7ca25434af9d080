import { fileURLToPath } from 'node:url';
import { runCommand, type Terminal } from '@fernpost/local-stack';

const script = fileURLToPath(new URL('../../../dashboard/build.ts', import.meta.url));
const limitMs = 5 * 60_000;

/** The build of the dashboard, which the service does not wait for. */
export interface DashboardBuild {
  /** Whether the dashboard is still to come. */
  isPending(): boolean;
  /** Resolves when there is nothing left to do, also when the start was interrupted. */
  ended: Promise<void>;
}

/**
 * Builds the dashboard where that has not been done for these sources, at a lower priority than what is started beside it. A build
 * that fails is reported and nothing more: the API works without it.
 */
export function buildDashboard(terminal: Terminal, signal: AbortSignal): DashboardBuild {
  let isPending = true;
  const ended = build(terminal, signal)
    // Interrupted: that is what the start says.
    .catch(() => undefined)
    .finally(() => {
      isPending = false;
    });
  return { isPending: () => isPending, ended };
}

async function build(terminal: Terminal, signal: AbortSignal): Promise<void> {
  const isBuilt = await runCommand(process.execPath, [script, '--check'], { limitMs, signal });
  if (isBuilt.failure === null) return;
  const began = Date.now();
  const niceNode = ['-n', '10', process.execPath, script];
  const { failure, stdout, stderr } = await runCommand('nice', niceNode, { limitMs, signal });
  if (failure === null) terminal.part('Dashboard', `built in ${Math.round((Date.now() - began) / 1000)} s, once`);
  else {
    terminal.part('Dashboard', `could not be built (${failure}); everything else works without it:`);
    for (const line of `${stdout}\n${stderr}`.trim().split('\n').slice(-12)) terminal.line(`          ${line}`);
  }
}
