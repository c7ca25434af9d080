import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { createHttpMetrics } from '../../../src/http/metrics.ts';
import { measurePool } from '../../../src/main/setup/database-settings.ts';
import { createSmtpMetrics } from '../../../src/main/smtp/smtp-runtime.ts';
import { createWorkerMetrics, logActivities } from '../../../src/main/worker/worker-metrics.ts';
import type { Database } from '../../../src/store/sql.ts';
import { readCompose } from '../../support/compose.ts';
import {
  alertRules,
  dashboardPanels,
  deployFile,
  expressions,
  machineMetrics,
  temporalMetrics,
} from '../../support/deploy.ts';
import { readPromql } from '../../support/promql.ts';

/** Every metric that a process of ours has, with its labels. */
const known = new Map<string, readonly string[]>(Object.entries({ ...temporalMetrics, ...machineMetrics }));
for (const name of Object.keys(temporalMetrics).filter((latency) => latency.endsWith('_latency')))
  known.set(`${name}_bucket`, [...(temporalMetrics[name] ?? []), 'le']);
for (const registry of ourRegistries())
  for (const metric of registry.getMetricsAsArray()) {
    const { labelNames = [] } = metric as { labelNames?: string[] };
    known.set(metric.name, labelNames);
    for (const part of ['bucket', 'sum', 'count']) known.set(`${metric.name}_${part}`, [...labelNames, 'le']);
  }
known.set('up', []);

const queues = [
  'email_queue',
  'outbox',
  'campaign_claims',
  'automation_arrivals',
  'system_mails',
  'webhook_deliveries',
];
const values: Record<string, readonly string[]> = {
  queue: queues,
  job: ['fernpost-api', 'fernpost-worker', 'fernpost-(api|worker|smtp)'],
};

function ourRegistries() {
  const rows = async () => [];
  const api = createHttpMetrics({ rows, row: async () => null, count: async () => 0 } as unknown as Database);
  const worker = createWorkerMetrics();
  logActivities(pino({ level: 'silent' }), worker.registry);
  const smtp = createSmtpMetrics(() => 0, { certificate: null });
  const registries = [api.registry, worker.registry, smtp.registry];
  for (const registry of registries) measurePool(registry, {} as never);
  return registries;
}

test('the metrics of a process are known to this test', () => {
  for (const name of ['fernpost_http_requests_total', 'fernpost_queue_age_seconds', 'fernpost_activity_seconds_bucket'])
    expect([...known.keys()]).toContain(name);
  expect(readPromql('sum by (nothing) (fernpost_no_such{at="all"}').problems).not.toEqual([]);
});

describe('alerts and dashboard', () => {
  test.each([...expressions()])('%s asks for metrics and labels that exist', (_, expression) => {
    const { selectors, grouping, problems } = readPromql(expression);
    expect(problems).toEqual([]);
    expect(selectors.length).toBeGreaterThan(0);
    const onScrape = ['job', 'instance'];
    const labels = new Set(onScrape);
    for (const { metric, matchers } of selectors) {
      expect([...known.keys()], metric).toContain(metric);
      for (const label of known.get(metric) ?? []) labels.add(label);
      for (const { label, value } of matchers) {
        expect([...onScrape, ...(known.get(metric) ?? [])], `${metric}{${label}}`).toContain(label);
        if (values[label]) expect(values[label]).toContain(value);
      }
    }
    expect(grouping.filter((label) => !labels.has(label))).toEqual([]);
  });

  test('every alert says what happened, what it means and where to read on', () => {
    const headings = (page: string) =>
      readFileSync(join(import.meta.dirname, '../../..', page), 'utf8')
        .match(/^#+ .*$/gm)
        ?.map((line) =>
          line
            .replace(/^#+ /, '')
            .toLowerCase()
            .replaceAll(/[^\w\s-]/g, '')
            .replaceAll(' ', '-'),
        );
    const rules = alertRules();
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
    for (const { alert, labels, annotations } of rules) {
      expect(['critical', 'warning'], alert).toContain(labels.severity);
      expect(Object.keys(annotations), alert).toEqual(['summary', 'description', 'runbook']);
      const [page = '', anchor] = annotations.runbook?.split('#') ?? [];
      expect(page).toMatch(/^docs\/operations\/\w+\.md$/);
      expect(headings(page), alert).toContain(anchor);
    }
  });

  test('every queue has an alert', () => {
    const asked = [...expressions()]
      .filter(([name]) => name.startsWith('alert '))
      .flatMap(([, expression]) => readPromql(expression).selectors.flatMap(({ matchers }) => matchers))
      .flatMap(({ label, value }) => (label === 'queue' ? [value] : []));
    expect(asked.sort()).toEqual(queues.toSorted());
  });

  test('no panel lies over another', () => {
    const panels = dashboardPanels();
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    for (const one of panels)
      for (const other of panels) {
        if (one.id >= other.id) continue;
        const [a, b] = [one.gridPos, other.gridPos];
        const apart = a.x + a.w <= b.x || b.x + b.w <= a.x || a.y + a.h <= b.y || b.y + b.h <= a.y;
        expect(apart, `${one.title} and ${other.title}`).toBe(true);
      }
  });
});

test('Prometheus asks the ports that docker-compose.yml opens inside, under the names that the alerts expect', () => {
  const { services } = readCompose();
  const { scrape_configs: jobs, rule_files: files } = parse(deployFile('prometheus/prometheus.yml')) as {
    rule_files: string[];
    scrape_configs: { job_name: string; dns_sd_configs: { names: string[]; port: number }[] }[];
  };
  const asked = jobs.map(({ job_name: job, dns_sd_configs: [target] }) => [job, target?.names, target?.port]);
  expect(asked).toEqual([
    ['fernpost-api', ['api'], services.api?.environment?.API_METRICS_PORT],
    ['fernpost-worker', ['worker'], services.worker?.environment?.WORKER_METRICS_PORT],
    ['fernpost-smtp', ['smtp'], services.smtp?.environment?.SMTP_IN_METRICS_PORT],
  ]);
  const mounts = services.prometheus?.volumes ?? [];
  expect(mounts).toContain('./deploy/prometheus/prometheus.yml:/etc/prometheus/prometheus.yml:ro');
  for (const file of files) expect(mounts).toContain(`./deploy/prometheus/${file}:/etc/prometheus/${file}:ro`);
});
