import { fileURLToPath } from 'node:url';
import { runCommand, type Terminal } from '@fernpost/local-stack';

const script = fileURLToPath(new URL('../../../dashboard/build.ts', import.meta.url));
const limitMs = 5 * 60_000;

/**
 * Builds the dashboard where that has not been done for these sources. A build that fails is told and nothing more: the API
 * works without it.
 */
export async function buildDashboard(terminal: Terminal, signal: AbortSignal): Promise<void> {
  const isBuilt = await runCommand(process.execPath, [script, '--check'], { limitMs, signal });
  if (isBuilt.failure === null) return;
  const began = Date.now();
  const progress = terminal.progress('The dashboard is built');
  const { failure, stdout, stderr } = await runCommand(process.execPath, [script], { limitMs, signal }).finally(() =>
    progress.end(),
  );
  if (failure === null) terminal.part('Dashboard', `built in ${Math.round((Date.now() - began) / 1000)} s, once`);
  else {
    terminal.part('Dashboard', `could not be built (${failure}); everything else works without it:`);
    for (const line of `${stdout}\n${stderr}`.trim().split('\n').slice(-12)) terminal.line(`          ${line}`);
  }
}
