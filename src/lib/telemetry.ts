import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { version } from './text.ts';

// These are of the process, whichever of its parts measures: `npm start` runs API, worker and SMTP submission in one.
const kept = { registers: [] };
const callBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

const emails = new Counter({
  name: 'fernpost_emails_total',
  help: 'Mail that got a status: settled by this process, or reported by the provider, each report once',
  labelNames: ['status', 'source'],
  ...kept,
});

const providerCalls = new Histogram({
  name: 'fernpost_provider_call_seconds',
  help: 'Time of one call that hands mail to the provider, by how it ended',
  labelNames: ['provider', 'outcome'],
  buckets: callBuckets,
  ...kept,
});

const webhookCalls = new Histogram({
  name: 'fernpost_webhook_delivery_seconds',
  help: 'Time of one call to a webhook endpoint, by how it was answered',
  labelNames: ['outcome'],
  buckets: callBuckets,
  ...kept,
});

const reports = new Histogram({
  name: 'fernpost_provider_report_seconds',
  help: 'Time to apply one report of the provider, by its channel, its kind and what became of it',
  labelNames: ['channel', 'kind', 'outcome'],
  buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
  ...kept,
});

const statements = new Histogram({
  name: 'fernpost_database_statement_seconds',
  help: 'Time of one statement, with its wait for a connection of the pool',
  labelNames: ['outcome'],
  buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30],
  ...kept,
});

const build = new Gauge({
  name: 'fernpost_build_info',
  help: '1, with the version of the service and of Node.js as labels',
  labelNames: ['version', 'node'],
  ...kept,
});

/** Adds the metrics that every kind of process has to the registry of one of its parts. */
export function measureProcess(registry: Registry): void {
  build.set({ version, node: process.versions.node }, 1);
  for (const metric of [emails, providerCalls, webhookCalls, reports, statements, build])
    registry.registerMetric(metric as Counter);
}

/** Counts mail of a source (`TRANSACTIONAL`, `CAMPAIGN`, `WORKFLOW`) that got a status. */
export function countEmails(status: string, source: string, count = 1): void {
  emails.inc({ status, source }, count);
}

/** Measures a call of the provider, in seconds. */
export function measureProviderCall(
  provider: string,
  outcome: 'accepted' | 'refused' | 'unknown',
  seconds: number,
): void {
  providerCalls.observe({ provider, outcome }, seconds);
}

/** Measures a call to a webhook endpoint, in seconds; `none` where nothing was answered. */
export function measureWebhookCall(outcome: 'none' | `${number}xx`, seconds: number): void {
  webhookCalls.observe({ outcome }, seconds);
}

/** Measures a report of the provider, in seconds. */
export function measureReport(labels: { channel: string; kind: string; outcome: string }, seconds: number): void {
  reports.observe(labels, seconds);
}

const answered = statements.labels('ok');
const refused = statements.labels('error');

/** Measures a statement. */
export async function measureStatement<T>(statement: () => Promise<T>): Promise<T> {
  const began = performance.now();
  try {
    const result = await statement();
    answered.observe((performance.now() - began) / 1000);
    return result;
  } catch (error) {
    refused.observe((performance.now() - began) / 1000);
    throw error;
  }
}

/** What a span is about: IDs, names of the code and counts. Never an address, a subject or a text that a person wrote. */
export type SpanFacts = Readonly<Record<string, string | number | boolean>>;

/** A span that is to begin, or that has ended. `parent` and `link` are values of the header `traceparent` (W3C Trace Context). */
export interface SpanOptions {
  kind?: 'server' | 'client' | 'producer' | 'consumer';
  facts?: SpanFacts;
  /** The span above it; the one that is open here when absent. */
  parent?: string | null;
  /** Whether it begins a trace where nothing is above it. Any other span without one is left out. */
  isRoot?: boolean;
  /** A span of another trace that it belongs to as well. */
  link?: string | null;
}

/** A span that is open: what became known later is added to it. */
export interface OpenSpan {
  rename(name: string): void;
  add(facts: SpanFacts): void;
  fail(): void;
}

/** What records spans: `src/main/setup/tracing.ts`, where an OTLP endpoint is set. */
export interface Tracer {
  run<T>(name: string, options: SpanOptions, work: (span: OpenSpan) => Promise<T>): Promise<T>;
  /** Records a span that has ended, and began at an instant in milliseconds. */
  record(name: string, options: SpanOptions, beganAt: number): void;
  /** Leaves the span that is open. */
  outside<T>(work: () => Promise<T>): Promise<T>;
  /** `traceparent` of the span that is open, where it is sampled. */
  active(): string | null;
}

let tracer: Tracer | null = null;

/** Records the spans of this process from now on, or none (null). */
export function recordSpans(by: Tracer | null): void {
  tracer = by;
}

const noSpan: OpenSpan = { rename: () => undefined, add: () => undefined, fail: () => undefined };

/** Runs work in a span. Without tracing, and without a span above it, it only runs. */
export function traced<T>(name: string, options: SpanOptions, work: (span: OpenSpan) => Promise<T>): Promise<T> {
  return tracer === null ? work(noSpan) : tracer.run(name, options, work);
}

/** Records a span that has ended; `beganAt` is in milliseconds. Nothing without a parent. */
export function traceEnded(name: string, options: SpanOptions & { parent: string | null }, beganAt: number): void {
  if (options.parent !== null) tracer?.record(name, options, beganAt);
}

/** Runs work in no span, for what serves many requests or another one. */
export function untraced<T>(work: () => Promise<T>): Promise<T> {
  return tracer === null ? work() : tracer.outside(work);
}

/** `traceparent` of the sampled span that is open, for what goes on in another process; null without one. */
export function activeTrace(): string | null {
  return tracer?.active() ?? null;
}
