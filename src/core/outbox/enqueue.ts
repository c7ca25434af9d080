import type { Command } from '../../../temporal/commands.ts';
import { type Database, raw, sql } from '../database/sql.ts';
import { newId } from '../lib/ids.ts';

/** The channel on which a commit with new outbox rows wakes the relays. */
export const outboxChannel = 'fernpost_outbox';

/** Names work that was put into the outbox; give it to `Outbox.dispatchSoon` after the commit. */
export interface OutboxTicket {
  workflowId: string;
}

/**
 * Writes down that a Temporal call must happen, in the caller's transaction. The same start twice is one start.
 * After the commit, `Outbox.dispatchSoon` makes the call at once; whatever that misses, a worker's relay makes.
 */
export async function enqueue(tx: Database, command: Command): Promise<OutboxTicket> {
  await enqueueAll(tx, [command]);
  return { workflowId: command.id };
}

/** `enqueue` for many commands by one statement. */
export async function enqueueAll(tx: Database, commands: readonly Command[]): Promise<OutboxTicket[]> {
  if (commands.length === 0) return [];
  const rows = commands.map((command) => {
    const id = newId();
    return {
      id,
      dedupe_key: dedupeKey(command, id),
      kind: command.type,
      workflow_type:
        command.type === 'start' ? command.workflow : command.type === 'schedule' ? command.launch.workflow : null,
      workflow_id: command.id,
      payload: command,
    };
  });
  // The order of ids is the order of dispatch, so a batch keeps the order in which it was given.
  await tx.count(sql`
    with added as (
      insert into outbox (id, dedupe_key, kind, workflow_type, workflow_id, payload)
        select id, dedupe_key, kind, workflow_type, workflow_id, payload
        from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (
          id uuid, dedupe_key text, kind text, workflow_type text, workflow_id text, payload jsonb)
        on conflict (dedupe_key) do nothing
        returning 1)
    select pg_notify('${raw(outboxChannel)}', '') where exists (select from added)`);
  return commands.map((command) => ({ workflowId: command.id }));
}

function dedupeKey(command: Command, id: string): string {
  if (command.type === 'start')
    return command.restart === undefined ? `start:${command.id}` : `start:${command.id}:${command.restart}`;
  // A repair may ask for the same revision again, so each of these counts.
  if (command.type === 'schedule' || command.type === 'unschedule') return `${command.type}:${command.id}:${id}`;
  return `${command.type}:${command.id}:${command.dedupeKey ?? id}`;
}
