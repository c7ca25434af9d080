import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const folder = join(import.meta.dirname, '../../deploy');

/** The text of a file in `deploy/`. */
export const deployFile = (path: string): string => readFileSync(join(folder, path), 'utf8');

interface AlertRule {
  alert: string;
  expr: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
}
interface Panel {
  id: number;
  title: string;
  type: string;
  gridPos: { x: number; y: number; w: number; h: number };
  targets?: { expr: string }[];
}

/** The alerts for Prometheus. */
export function alertRules(): AlertRule[] {
  return (parse(deployFile('prometheus/alerts.yml')) as { groups: { rules: AlertRule[] }[] }).groups.flatMap(
    ({ rules }) => rules,
  );
}

/** The panels of the Grafana dashboard. */
export function dashboardPanels(): Panel[] {
  return (JSON.parse(deployFile('grafana/fernpost.json')) as { panels: Panel[] }).panels;
}

/** Every expression of alerts and dashboard, by where it stands. */
export function expressions(): Map<string, string> {
  return new Map([
    ...alertRules().map(({ alert, expr }) => [`alert ${alert}`, expr] as const),
    ...dashboardPanels().flatMap(({ title, targets }) =>
      (targets ?? []).map(({ expr }, place) => [`panel ${title}, ${place + 1}`, expr] as const),
    ),
  ]);
}

/** Metrics of the Temporal SDK that alerts and dashboard use, with the labels they use of them. */
export const temporalMetrics: Record<string, readonly string[]> = {
  temporal_workflow_task_schedule_to_start_latency: ['task_queue'],
  temporal_activity_schedule_to_start_latency: ['task_queue'],
  temporal_worker_task_slots_available: ['task_queue', 'worker_type'],
  temporal_request_failure_total: ['operation'],
  temporal_workflow_task_execution_failed_total: ['task_queue'],
};

/** Metrics of other programs that alerts use: node_exporter, and what deploy/backup.sh leaves for its textfile collector. */
export const machineMetrics: Record<string, readonly string[]> = {
  node_filesystem_avail_bytes: ['fstype', 'mountpoint'],
  node_filesystem_size_bytes: ['fstype', 'mountpoint'],
  fernpost_backup_last_success_timestamp_seconds: [],
  fernpost_restore_drill_last_success_timestamp_seconds: [],
};

/** Those that exist only once something has failed. */
export const temporalFailures = ['temporal_request_failure_total', 'temporal_workflow_task_execution_failed_total'];
