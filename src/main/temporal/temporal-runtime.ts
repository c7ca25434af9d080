import { Runtime, type Logger as SdkLogger } from '@temporalio/worker';
import type { Logger } from 'pino';

/** Where the SDK's own figures can be read on this machine; null when they are not gathered. */
export type SdkMetricsUrl = string | null;

let installed: SdkMetricsUrl | undefined;

/**
 * Prepares the Temporal SDK once for this process: its log lines go into ours, and its figures to a port on loopback when
 * one is given. Must come before the first worker or connection; later calls change nothing.
 */
export function installTemporalRuntime(log: Logger, metricsPort: number | null): SdkMetricsUrl {
  if (installed !== undefined) return installed;
  const address = metricsPort === null ? null : `127.0.0.1:${metricsPort}`;
  Runtime.install({
    logger: sdkLogger(log),
    // The process stops its workers itself, in its own order.
    shutdownSignals: [],
    telemetryOptions: {
      logging: { forward: {}, filter: { core: 'WARN', other: 'ERROR' } },
      ...(address === null
        ? {}
        : {
            metrics: { prometheus: { bindAddress: address, countersTotalSuffix: true, useSecondsForDurations: true } },
          }),
    },
  });
  installed = address === null ? null : `http://${address}/metrics`;
  return installed;
}

// Every attempt of an activity has a line of ours already.
const told = new Set(['Activity failed', 'Activity started', 'Activity completed']);

function sdkLogger(log: Logger): SdkLogger {
  const write = (level: 'trace' | 'debug' | 'info' | 'warn' | 'error') => (message: string, facts?: object) => {
    if (told.has(message)) return;
    // What the SDK finds worth an info line (each change of a worker's state) is not news for an operator, and each of
    // its retries without a server is not either: the worker says once that Temporal is away.
    const shownAs = level === 'info' || /^gRPC call \w+ retried/.test(message) ? 'debug' : level;
    log[shownAs](withoutPayloads(facts), `temporal: ${message}`);
  };
  const [trace, debug, info, warn, error] = (['trace', 'debug', 'info', 'warn', 'error'] as const).map(write) as [
    SdkLogger['trace'],
    SdkLogger['debug'],
    SdkLogger['info'],
    SdkLogger['warn'],
    SdkLogger['error'],
  ];
  return {
    trace,
    debug,
    info,
    warn,
    error,
    log: (level, message, facts) => write(level.toLowerCase() as 'info')(message, facts),
  };
}

const shown = ['workflowId', 'workflowType', 'activityType', 'activityId', 'attempt', 'taskQueue', 'error'];

function withoutPayloads(facts: object | undefined): Record<string, unknown> {
  const entries = Object.entries(facts ?? {}).filter(([name]) => shown.includes(name));
  return Object.fromEntries(
    entries.map(([name, value]) =>
      name === 'error' ? ['err', value instanceof Error ? value : String(value)] : [name, value],
    ),
  );
}
