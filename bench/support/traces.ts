import type { Config } from '../../src/lib/config/config.ts';

/** Traces this process where its settings say so, as the programs of the service do. */
export async function traceAsSet(config: Config): Promise<void> {
  if (config.OTEL_EXPORTER_OTLP_ENDPOINT === null) return;
  const { startTracing } = await import('../../src/main/setup/tracing.ts');
  startTracing(config);
}
