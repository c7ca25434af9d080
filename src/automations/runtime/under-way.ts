import type { Command, Json } from '../../../temporal/commands.ts';
import { type Sql, statement } from '../../core/database/sql.ts';
import { createUnderWay, type UnderWay } from '../../core/outbox/under-way.ts';
import { placeOf } from './recovery.ts';

/**
 * Most wakes and starts of a process that Temporal has taken and no run has acted upon. What waits in Temporal costs it more
 * than what waits in the outbox: tasks are written down, those for a worker that knows the execution are given up after
 * seconds and made once more. With a tenth of a second from signal to step these let several hundred a second through.
 */
const mostWakes = 50;
const mostStarts = 200;

const claimed = statement(
  'automation_step_runs.still_claimed',
  `select w.ordinal from jsonb_to_recordset($1::jsonb) as w (
       ordinal integer, "automationId" uuid, "contactId" uuid, entry integer, seq integer)
     join automation_runs r on r.automation_id = w."automationId" and r.contact_id = w."contactId" and r.entry = w.entry
     join automation_step_runs s on s.run_id = r.id and s.seq = w.seq - 1
   where s.status = 'WAITING' and s.outcome is not null`,
);
const unbegun = statement(
  'automation_runs.unbegun',
  `select id from automation_runs where id = any ($1::uuid[]) and seq = 0 and status = 'RUNNING'`,
);

/** The wakes of a process that an event caused, until their run has taken the event. Other signals never count. */
export function wakesUnderWay(sql: Sql, most = mostWakes): UnderWay<Command> {
  return createUnderWay({
    most,
    async still(commands) {
      const wakes = commands.flatMap((command, ordinal) => {
        const place = command.type === 'signal' ? placeOf(command.id) : null;
        return place === null || command.type !== 'signal' ? [] : { ...place, ordinal, seq: seqOf(command.input) };
      });
      const rows = await sql.rows<{ ordinal: number }>(claimed, [JSON.stringify(wakes)]);
      return rows.flatMap(({ ordinal }) => commands[ordinal] ?? []);
    },
  });
}

/** The runs that a process has made, until their execution has begun. Counted by the runs' ids. */
export function startsUnderWay(sql: Sql, most = mostStarts): UnderWay<string> {
  return createUnderWay({
    most,
    still: async (ids) => (await sql.rows<{ id: string }>(unbegun, [ids])).map(({ id }) => id),
  });
}

function seqOf(input: Json | undefined): number | null {
  return typeof input === 'object' && input !== null && 'seq' in input && typeof input.seq === 'number'
    ? input.seq
    : null;
}
