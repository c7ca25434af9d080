import { Migration } from '@mikro-orm/migrations';

/** Counts of runs of automations beside those of mail, and what the feed finds runs by. */
export class Migration20261121001001_run_counts extends Migration {
  override up(): void {
    this.addSql(
      'create index automation_runs_completed on automation_runs (project_id, completed_at, id) where completed_at is not null',
    );
    // Who waits for a mail to come: the delays of a project in the order in which they end.
    this.addSql(
      `create index automation_step_runs_delays on automation_step_runs (project_id, scheduled_for, id)
         where step_type = 'DELAY' and status = 'SCHEDULED'`,
    );

    // Runs by the hour in which they began, and by the one in which they ended.
    for (const table of ['mail_counts', 'mail_count_changes'])
      this.addSql(`alter table ${table} add column runs_started integer not null default 0,
        add column runs_completed integer not null default 0`);
    const zeros = [
      'outgoing',
      'incoming',
      'delivered',
      'opened',
      'clicked',
      'bounced',
      'rated',
      'rated_bounced',
      'rated_complained',
    ];
    const into = `insert into mail_count_changes (project_id, hour, ${zeros.join(', ')}, runs_started, runs_completed)`;
    const none = zeros.map(() => '0').join(', ');
    const counted = (rows: string, sign: string) => `
      select r.project_id, ${hourOf('item.at')}, ${none}, ${sign}sum(item.started), ${sign}sum(item.completed)
      from ${rows} r, lateral (values (r.started_at, 1, 0), (r.completed_at, 0, 1)) item (at, started, completed)
      where item.at is not null group by 1, 2`;
    this.addSql(`${into} ${counted('automation_runs', '')}`);
    for (const [event, table, sign] of [
      ['insert', 'new', ''],
      ['delete', 'old', '-'],
    ] as const) {
      this.addSql(`
        create function count_runs_on_${event}() returns trigger language plpgsql as $fn$
        begin
          ${into} ${counted('changed', sign)};
          return null;
        end $fn$`);
      this.addSql(`
        create trigger automation_runs_counted_on_${event} after ${event} on automation_runs
          referencing ${table} table as changed for each statement execute function count_runs_on_${event}()`);
    }
    this.addSql(`
      create function count_ended_run() returns trigger language plpgsql as $fn$
      begin
        ${into}
          select new.project_id, ${hourOf('item.at')}, ${none}, 0, item.change
          from (values (old.completed_at, -1), (new.completed_at, 1)) item (at, change) where item.at is not null;
        return null;
      end $fn$`);
    this.addSql(`
      create trigger automation_runs_ended_counted after update of completed_at on automation_runs for each row
        when (old.completed_at is distinct from new.completed_at) execute function count_ended_run()`);
  }
}

/** The beginning of the hour of an instant. */
function hourOf(instant: string): string {
  return `date_bin('1 hour', ${instant}, timestamptz 'epoch')`;
}
