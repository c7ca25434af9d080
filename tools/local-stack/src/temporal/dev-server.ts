/** The Temporal CLI that the project is tested with, and what it brings. docker-compose.yml runs the same server and Web UI. */
export const testedTemporal = { cli: '1.9.1', server: '1.32.0', ui: '2.54.1' };

/** The newest CLI that Go can build from outside of its repository: later ones have a nested module. `go.mod` beside this folder pins it. */
export const builtCliVersion = '1.5.1';

/** The Go package that builds to the `temporal` program. */
export const temporalCliPackage = 'github.com/temporalio/cli/cmd/temporal';

/** Where the development server listens and what it keeps. */
export interface DevServer {
  port: number;
  /** Port of the Web UI, or null for none. */
  uiPort: number | null;
  /** File of the SQLite database, or null to keep everything in memory. */
  databaseFile: string | null;
}

/**
 * Settings of the server. With one shard, task queues are read at most 20 times a second by default, which makes each step of a workflow
 * wait about 100 ms; 500 makes sequential activities ten times faster. temporal/dynamic-config.yaml has the same values for other servers.
 */
export const dynamicConfig = {
  'history.transferProcessorMaxPollRPS': 500,
  'history.timerProcessorMaxPollRPS': 500,
};

// The defaults of SQLite wait for the disk twice as often as its write-ahead log needs to be safe when the process is killed.
const pragmas = ['journal_mode=WAL', 'synchronous=NORMAL'];

/** Arguments for `temporal` that run the development server on the loopback address. */
export function devServerArguments({ port, uiPort, databaseFile }: DevServer): string[] {
  return [
    'server',
    'start-dev',
    ...['--ip', '127.0.0.1', '--port', String(port)],
    ...(uiPort === null ? ['--headless'] : ['--ui-port', String(uiPort)]),
    ...(databaseFile === null
      ? []
      : ['--db-filename', databaseFile, ...pragmas.flatMap((it) => ['--sqlite-pragma', it])]),
    ...Object.entries(dynamicConfig).flatMap(([name, value]) => ['--dynamic-config-value', `${name}=${value}`]),
    ...['--log-level', 'error'],
  ];
}

/** Arguments for `temporal` that succeed once the server at this port serves its default namespace. */
export function probeArguments(port: number): string[] {
  return [
    'operator',
    'namespace',
    'describe',
    '-n',
    'default',
    '--address',
    `127.0.0.1:${port}`,
    '--command-timeout',
    '5s',
  ];
}
