import { fileURLToPath } from 'node:url';
import { runCommand, type Terminal } from '@fernpost/local-stack';

const script = fileURLToPath(new URL('../../../packages/sdk/build/build.ts', import.meta.url));

/** Builds the clients that the service hands out, which takes about a second. A build that fails is told; the rest works without it. */
export async function buildDownloads(terminal: Terminal, signal: AbortSignal): Promise<void> {
  const { failure, stderr } = await runCommand(process.execPath, [script], { limitMs: 60_000, signal });
  if (failure === null || signal.aborted) return;
  terminal.part('Downloads', `could not be built (${failure}); everything else works without them:`);
  for (const line of stderr.trim().split('\n').slice(-6)) terminal.line(`          ${line}`);
}
