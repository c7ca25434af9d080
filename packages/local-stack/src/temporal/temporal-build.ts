import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type CommandResult, runCommand } from '../process/command.ts';
import { builtCliVersion, temporalCliPackage, testedTemporal } from './dev-server.ts';
import { findProgram, type TemporalSearch } from './temporal-search.ts';

const moduleFolder = fileURLToPath(new URL('../../', import.meta.url));
// Where the official installers put Go; not every shell has it on its PATH.
const usualFolders = ['/usr/local/go/bin', '/opt/homebrew/bin'];

/** Builds the Temporal CLI that `go.mod` pins with Go into a file. Returns the file, or why it could not be built. */
export async function buildTemporal(
  target: string,
  { env, terminal, signal }: Pick<TemporalSearch, 'env' | 'terminal' | 'signal'>,
): Promise<{ path: string } | string> {
  const go = findProgram('go', env, usualFolders);
  if (go === null) return 'Go is not installed';
  const options = { cwd: moduleFolder, signal, env: { ...env, CGO_ENABLED: '0', GOWORK: 'off', GOOS: '', GOARCH: '' } };
  const version = await runCommand(go, ['env', 'GOVERSION'], options);
  if (version.failure) return `${go} does not work: ${lastLine(version)}`;

  terminal.line(
    `${''.padEnd(9)} Building the Temporal CLI ${builtCliVersion} with ${version.stdout.trim()}, once; this takes some minutes. Go can build no newer one; the project is tested with ${testedTemporal.cli}`,
  );
  const progress = terminal.progress('building the Temporal CLI');
  const unfinished = `${target}.${process.pid}`;
  try {
    mkdirSync(dirname(target), { recursive: true });
    let fetched = 0;
    const list = await runCommand(go, ['list', '-mod=readonly', '-deps', temporalCliPackage], {
      ...options,
      onLine: (line) => {
        if (line.startsWith('go: downloading')) progress.update(`${++fetched} Go modules fetched`);
      },
    });
    if (list.failure) return `fetching the Go modules failed: ${lastLine(list)}`;
    const packages = list.stdout.trim().split('\n').length;
    let compiled = 0;
    const build = await runCommand(
      go,
      [
        'build',
        ...['-v', '-mod=readonly', '-trimpath', '-buildvcs=false'],
        ...['-ldflags', `-s -w -X github.com/temporalio/cli/temporalcli.Version=${builtCliVersion}`],
        ...['-o', unfinished, temporalCliPackage],
      ],
      { ...options, onLine: () => progress.update(`${++compiled} of about ${packages} packages compiled`) },
    );
    if (build.failure) return `the build failed: ${lastLine(build)}`;
    renameSync(unfinished, target);
    return { path: target };
  } finally {
    progress.end();
    rmSync(unfinished, { force: true });
  }
}

function lastLine({ stderr, failure }: CommandResult): string {
  const lines = stderr.trim().split('\n');
  return (
    lines
      .filter((line) => line.trim() !== '' && !line.startsWith('go: downloading'))
      .at(-1)
      ?.trim() ||
    failure ||
    'no reason given'
  );
}
