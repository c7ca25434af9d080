import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type History, historyToJSON } from '@temporalio/common/lib/proto-utils.js';

const folder = fileURLToPath(new URL('./histories/', import.meta.url));

/** One event as Temporal's tools write it. */
interface SavedEvent {
  eventId: string;
  eventType: string;
  workflowExecutionStartedEventAttributes?: { workflowId: string; workflowType: { name: string } };
  [attributes: string]: unknown;
}

/** The history of one run, from its file. */
export interface SavedHistory {
  /** `<workflow>-<case>`, with `-<run>` where an execution continued as new. */
  name: string;
  workflowType: string;
  workflowId: string;
  events: SavedEvent[];
  /** The file. */
  text: string;
}

/** Every saved history, by name. @throws for a file that does not begin with the start of an execution */
export function savedHistories(): SavedHistory[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return files.sort().map((file) => {
    const text = readFileSync(`${folder}${file}`, 'utf8');
    const { events } = JSON.parse(text) as { events: SavedEvent[] };
    const started = events[0]?.workflowExecutionStartedEventAttributes;
    if (started === undefined) throw new Error(`${file} does not begin with the start of an execution`);
    const { workflowId, workflowType } = started;
    return { name: file.replace(/\.json$/, ''), workflowType: workflowType.name, workflowId, events, text };
  });
}

/** Writes the runs of one execution: one file for each, one line for each event. */
export function saveHistories(name: string, runs: readonly History[]): void {
  for (const [index, run] of runs.entries()) {
    const { events } = JSON.parse(historyToJSON(run), anonymous) as { events: object[] };
    const lines = events.map((event) => JSON.stringify(event)).join(',\n');
    const file = runs.length === 1 ? name : `${name}-${index + 1}`;
    writeFileSync(`${folder}${file}.json`, `{"events":[\n${lines}\n]}\n`);
  }
}

const machine = ['stackTrace', 'workerVersion'];

// What names the machine or the build that recorded it is left out; replay looks at none of it.
function anonymous(key: string, value: unknown): unknown {
  if (key === 'identity') return 'recorder';
  if (machine.includes(key)) return undefined;
  const { kind } = (value ?? {}) as { kind?: unknown };
  return kind === 'TASK_QUEUE_KIND_STICKY' ? { ...(value as object), name: 'sticky' } : value;
}
