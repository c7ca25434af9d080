import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Context,
  type Link,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Config } from '../../lib/config/config.ts';
import { type OpenSpan, recordSpans, type SpanFacts, type SpanOptions, type Tracer } from '../../lib/telemetry.ts';
import { version } from '../../lib/text.ts';

type TracingSettings = Pick<
  Config,
  'OTEL_EXPORTER_OTLP_ENDPOINT' | 'OTEL_SERVICE_NAME' | 'OTEL_TRACES_SAMPLER' | 'OTEL_TRACES_SAMPLER_ARG'
>;

/** Tracing of this process. */
export interface RunningTracing {
  /** Sends what is left. */
  close(): Promise<void>;
}

/**
 * Records the spans of this process and sends them by OTLP. The exporter reads the standard variables (OTEL_EXPORTER_OTLP_HEADERS and its like)
 * by itself; tests bring one.
 */
export function startTracing(
  settings: TracingSettings,
  exporter: SpanExporter = new OTLPTraceExporter({ url: `${settings.OTEL_EXPORTER_OTLP_ENDPOINT}/v1/traces` }),
): RunningTracing {
  const processor = new BatchSpanProcessor({ exporter });
  const provider = new TracerProvider({
    sampler: samplerOf(settings),
    resource: resourceFromAttributes({ 'service.name': settings.OTEL_SERVICE_NAME, 'service.version': version }),
    spanProcessors: [processor],
  });
  recordSpans(new SpanRecorder(provider));
  const close = async () => {
    recordSpans(null);
    await provider.shutdown();
  };
  return { close };
}

function samplerOf({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: ratio }: TracingSettings): Sampler {
  const samplers = {
    always_on: () => new AlwaysOnSampler(),
    always_off: () => new AlwaysOffSampler(),
    traceidratio: () => new TraceIdRatioBasedSampler(ratio),
  };
  if (name === 'always_on' || name === 'always_off' || name === 'traceidratio') return samplers[name]();
  const root = name.slice('parentbased_'.length) as keyof typeof samplers;
  return new ParentBasedSampler({ root: samplers[root]() });
}

const kinds = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
} as const;

class SpanRecorder implements Tracer {
  readonly #tracer;
  readonly #open = new AsyncLocalStorage<Span | undefined>();

  constructor(provider: TracerProvider) {
    this.#tracer = provider.getTracer('fernpost', version);
  }

  async run<T>(name: string, options: SpanOptions, work: (span: OpenSpan) => Promise<T>): Promise<T> {
    const span = this.#begin(name, options);
    // What is not sampled costs nothing further down, since nothing is open there.
    if (span === null) return work(left);
    if (!span.isRecording()) return this.#open.run(undefined, () => work(left));
    return this.#open.run(span, async () => {
      try {
        return await work(handleOf(span));
      } catch (error) {
        // The message of an error may hold what a person wrote.
        span.setStatus({ code: SpanStatusCode.ERROR });
        span.setAttribute('error.type', error instanceof Error ? error.name : 'unknown');
        throw error;
      } finally {
        span.end();
      }
    });
  }

  record(name: string, options: SpanOptions, beganAt: number): void {
    this.#begin(name, options, beganAt)?.end();
  }

  outside<T>(work: () => Promise<T>): Promise<T> {
    return this.#open.run(undefined, work);
  }

  active(): string | null {
    const open = this.#open.getStore();
    return open === undefined ? null : traceparentOf(open.spanContext());
  }

  #begin(
    name: string,
    { kind, facts = {}, parent, isRoot = false, link }: SpanOptions,
    startTime?: number,
  ): Span | null {
    const above = this.#above(parent);
    if (above === null && !isRoot) return null;
    const linked = link == null ? null : parseTraceparent(link);
    // A link to the own trace says nothing.
    const links: Link[] = linked === null || linked.traceId === traceIdOf(above) ? [] : [{ context: linked }];
    const options = {
      kind: kind === undefined ? SpanKind.INTERNAL : kinds[kind],
      attributes: { ...facts },
      links,
      ...(startTime === undefined ? {} : { startTime }),
    };
    return this.#tracer.startSpan(name, options, above ?? ROOT_CONTEXT);
  }

  #above(parent: string | null | undefined): Context | null {
    if (parent != null) {
      const remote = parseTraceparent(parent);
      return remote && trace.setSpanContext(ROOT_CONTEXT, remote);
    }
    const open = this.#open.getStore();
    return open === undefined ? null : trace.setSpan(ROOT_CONTEXT, open);
  }
}

const left: OpenSpan = { rename: () => undefined, add: () => undefined, fail: () => undefined };

function handleOf(span: Span): OpenSpan {
  return {
    rename: (name) => void span.updateName(name),
    add: (facts: SpanFacts) => void span.setAttributes({ ...facts }),
    fail: () => void span.setStatus({ code: SpanStatusCode.ERROR }),
  };
}

function traceIdOf(context: Context | null): string | undefined {
  return context === null ? undefined : trace.getSpanContext(context)?.traceId;
}

function traceparentOf({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

/** Reads the header `traceparent`; null for one that is none (W3C Trace Context, 3.2). */
function parseTraceparent(text: string): SpanContext | null {
  const [, version_, traceId = '', spanId = '', flags = ''] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/.exec(text) ?? [];
  if (version_ === undefined || version_ === 'ff' || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
}
