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
