import type { Command, Json } from '../../../temporal/commands.ts';
import { type Database, sql } from '../../core/database/sql.ts';
import { UnderWay } from '../../core/outbox/under-way.ts';
import { placeOf } from './recovery.ts';

/**
 * Most wakes and starts of a process that Temporal has taken and no run has acted upon. What waits in Temporal costs it more
 * than what waits in the outbox: tasks are written down, those for a worker that knows the execution are given up after
 * seconds and made once more. With a tenth of a second from signal to step these let several hundred a second through.
 */
const mostWakes = 50;
const mostStarts = 200;

/** The wakes of a process that an event caused, until their run has taken the event. Other signals never count. */
export function wakesUnderWay(db: Database, most = mostWakes): UnderWay<Command> {
  return new UnderWay({
    most,
    async still(commands) {
      const wakes = commands.flatMap((command, ordinal) => {
        const place = command.type === 'signal' ? placeOf(command.id) : null;
        return place === null || command.type !== 'signal' ? [] : { ...place, ordinal, seq: seqOf(command.input) };
      });
      const rows = await db.rows<{ ordinal: number }>(sql`
        select w.ordinal from jsonb_to_recordset(${JSON.stringify(wakes)}::jsonb) as w (
            ordinal integer, "automationId" uuid, "contactId" uuid, entry integer, seq integer)
          join automation_runs r
            on r.automation_id = w."automationId" and r.contact_id = w."contactId" and r.entry = w.entry
          join automation_step_runs s on s.run_id = r.id and s.seq = w.seq - 1
        where s.status = 'WAITING' and s.outcome is not null`);
      return rows.flatMap(({ ordinal }) => commands[ordinal] ?? []);
    },
  });
}

/** The runs that a process has made, until their execution has begun. Counted by the runs' ids. */
export function startsUnderWay(db: Database, most = mostStarts): UnderWay<string> {
  return new UnderWay({
    most,
    async still(ids) {
      const rows = await db.rows<{ id: string }>(sql`
        select id from automation_runs where id = any (${ids}::uuid[]) and seq = 0 and status = 'RUNNING'`);
      return rows.map(({ id }) => id);
    },
  });
}

function seqOf(input: Json | undefined): number | null {
  return typeof input === 'object' && input !== null && 'seq' in input && typeof input.seq === 'number'
    ? input.seq
    : null;
}
