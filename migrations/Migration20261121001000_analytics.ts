import { Migration } from '@mikro-orm/migrations';

/** What the activity feed pages through, and the counts by hour that totals, statistics and reputation are read from. */
export class Migration20261121001000_analytics extends Migration {
  override up(): void {
    this.moments();
    this.activityCounts();
    this.mailCounts();
    this.campaigns();
  }

  private moments(): void {
    // The event that first tells of a mail's sending, delivery, opening … carries that instant of the mail as well, so that
    // the feed pages through mail in the order of its own instants although no index may hold emails.sent_at.
    this.addSql('alter table events add column mail_at timestamptz(3)');
    this.addSql(`
      update events e set mail_at = first.at
      from (
        select distinct on (e.email_id, e.name) e.id, case e.name
          when 'email.sent' then m.sent_at when 'email.delivery' then m.delivered_at when 'email.received' then m.delivered_at
          when 'email.open' then m.opened_at when 'email.click' then m.clicked_at
          when 'email.bounce' then m.bounced_at when 'email.complaint' then m.complained_at end as at
        from events e join emails m on m.id = e.email_id
        where e.name in ('email.sent', 'email.delivery', 'email.received', 'email.open', 'email.click', 'email.bounce',
            'email.complaint')
          and (e.name <> 'email.bounce' or e.data ? 'bouncedAt')
        order by e.email_id, e.name, e.created_at, e.id) first
      where first.id = e.id and first.at is not null`);
    // Most of these events tell of a sending. Their index is as narrow as can be (measured: 1 µs a message, where one index
    // for all of them, with names and ids, takes 5 µs).
    this.addSql(
      `create index events_sent on events (project_id, mail_at) where name = 'email.sent' and mail_at is not null`,
    );
    this.addSql(
      `create index events_mail on events (project_id, name, mail_at) where name <> 'email.sent' and mail_at is not null`,
    );
  }

  private activityCounts(): void {
    // How many items of a kind an hour had, up to event_counts_state.counted_through: '' for events, by when they were
    // recorded; the name of the event for what happened to mail, by mail_at. Rows for the same hour add up.
    this.addSql(`
      create table activity_counts (
        project_id uuid not null references projects on delete cascade,
        kind text not null,
        hour timestamptz(3) not null,
        items integer not null
      ) with (autovacuum_vacuum_scale_factor = 0.05)`);
    this.addSql('create index activity_counts_hour on activity_counts (project_id, hour, kind) include (items)');
    this.addSql('create index activity_counts_taken_off on activity_counts (project_id) where items < 0');
    // Everything is counted anew, by the hour this time.
    this.addSql('delete from event_counts');
    this.addSql(`update event_counts_state set counted_through = '-infinity'`);

    this.addSql(`
      create or replace function uncount_deleted_events() returns trigger language plpgsql as $fn$
      declare
        counted timestamptz;
      begin
        if not exists (select from went) then
          return null;
        end if;
        perform pg_advisory_xact_lock_shared(hashtextextended('event counts', 0));
        select counted_through into counted from event_counts_state;
        insert into event_counts (project_id, name, day, events)
          select went.project_id, went.name, (went.created_at at time zone 'UTC')::date, -count(*)
          from went
          where went.created_at < counted and exists (select from projects p where p.id = went.project_id)
          group by 1, 2, 3;
        insert into activity_counts (project_id, kind, hour, items)
          select went.project_id, item.kind, ${hourOf('item.at')}, -count(*)
          from went, lateral (
            select '' as kind, went.created_at as at
            union all select went.name, went.mail_at where went.mail_at is not null) item
          where went.created_at < counted and exists (select from projects p where p.id = went.project_id)
          group by 1, 2, 3;
        return null;
      end $fn$`);
    // A report that comes late can say that something happened earlier than was known.
    this.addSql(`
      create function recount_moved_event() returns trigger language plpgsql as $fn$
      begin
        perform pg_advisory_xact_lock_shared(hashtextextended('event counts', 0));
        insert into activity_counts (project_id, kind, hour, items)
          select new.project_id, new.name, ${hourOf('item.at')}, item.change
          from (values (old.mail_at, -1), (new.mail_at, 1)) item (at, change)
          where item.at is not null and new.created_at < (select counted_through from event_counts_state);
        return null;
      end $fn$`);
    this.addSql(`
      create trigger events_moved after update of mail_at on events for each row
        when (old.mail_at is distinct from new.mail_at) execute function recount_moved_event()`);
  }

  private mailCounts(): void {
    const columns = Object.keys(facts);
    // Mail by the hour it was created in, and what has become of it since. rated_*: what reputation is judged by.
    this.addSql(`
      create table mail_counts (
        project_id uuid not null references projects on delete cascade,
        hour timestamptz(3) not null,
        ${columns.map((column) => `${column} integer not null default 0`).join(', ')},
        primary key (project_id, hour)
      ) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05)`);
    // What has changed since: appended by whoever changes mail, so that no two writers wait for one another, and folded
    // into the counts by workers. Both are read together.
    this.addSql(`
      create table mail_count_changes (
        project_id uuid not null,
        hour timestamptz(3) not null,
        ${columns.map((column) => `${column} integer not null`).join(', ')}
      ) with (autovacuum_vacuum_scale_factor = 0.02)`);
    this.addSql('create index mail_count_changes_project on mail_count_changes (project_id)');
    const into = `insert into mail_count_changes (project_id, hour, ${columns.join(', ')})`;
    const counted = (sign: string) =>
      columns.map((column) => `${sign}count(*) filter (where ${facts[column]?.('m')})`).join(', ');
    this.addSql(`${into} select project_id, ${hourOf('created_at')}, ${counted('')} from emails m group by 1, 2`);

    this.addSql(`
      create function count_new_mail() returns trigger language plpgsql as $fn$
      begin
        ${into} select project_id, ${hourOf('created_at')}, ${counted('')} from came m group by 1, 2;
        return null;
      end $fn$`);
    this.addSql(`
      create trigger emails_counted after insert on emails referencing new table as came
        for each statement execute function count_new_mail()`);
    this.addSql(`
      create function uncount_deleted_mail() returns trigger language plpgsql as $fn$
      begin
        ${into} select project_id, ${hourOf('created_at')}, ${counted('-')} from went m group by 1, 2;
        return null;
      end $fn$`);
    this.addSql(`
      create trigger emails_uncounted after delete on emails referencing old table as went
        for each statement execute function uncount_deleted_mail()`);

    // Sending and handing over change nothing that is counted: the condition lets these updates pass without a call.
    const valuesOf = (row: string, sign: string) =>
      columns.map((column) => `${sign}(${facts[column]?.(row)})::integer`).join(', ');
    this.addSql(`
      create function recount_changed_mail() returns trigger language plpgsql as $fn$
      begin
        if old.created_at = new.created_at then
          ${into} values (new.project_id, ${hourOf('new.created_at')},
            ${columns.map((column) => `(${facts[column]?.('new')})::integer - (${facts[column]?.('old')})::integer`).join(', ')});
        else
          ${into} values (old.project_id, ${hourOf('old.created_at')}, ${valuesOf('old', '-')}),
            (new.project_id, ${hourOf('new.created_at')}, ${valuesOf('new', '')});
        end if;
        return null;
      end $fn$`);
    const happened = ['delivered_at', 'opened_at', 'clicked_at', 'bounced_at', 'complained_at'];
    this.addSql(`
      create trigger emails_recounted
        after update of status, ${happened.join(', ')}, simulated, created_at on emails for each row
        when (${happened.map((column) => `(old.${column} is null) <> (new.${column} is null)`).join(' or ')}
          or old.status <> new.status and (old.status in ('FAILED', 'SUPPRESSED') or new.status in ('FAILED', 'SUPPRESSED'))
          or old.simulated <> new.simulated or old.created_at <> new.created_at)
        execute function recount_changed_mail()`);
  }

  private campaigns(): void {
    this.addSql('create index campaigns_sent on campaigns (project_id, sent_at, id) where sent_at is not null');
    this.addSql(
      `create index campaigns_scheduled on campaigns (project_id, scheduled_for, id) where status = 'SCHEDULED'`,
    );
  }
}

/** The beginning of the hour of an instant. */
function hourOf(instant: string): string {
  return `date_bin('1 hour', ${instant}, timestamptz 'epoch')`;
}

const isOut = (row: string) => `${row}.source_type <> 'INBOUND' and ${row}.status <> 'SUPPRESSED'`;
// docs/contract/platform.md#2-4: what failed, came in or went to a simulator says nothing about a sender.
const isRated = (row: string) => `${isOut(row)} and ${row}.status <> 'FAILED' and not ${row}.simulated`;

/** What each column counts, as a condition on a row of `emails`. Mail that a rule caught is in no statistics. */
const facts: Record<string, (row: string) => string> = {
  outgoing: isOut,
  incoming: (row) => `${row}.source_type = 'INBOUND'`,
  delivered: (row) => `${isOut(row)} and ${row}.delivered_at is not null`,
  opened: (row) => `${isOut(row)} and ${row}.opened_at is not null`,
  clicked: (row) => `${isOut(row)} and ${row}.clicked_at is not null`,
  bounced: (row) => `${isOut(row)} and ${row}.bounced_at is not null`,
  rated: isRated,
  rated_bounced: (row) => `${isRated(row)} and ${row}.bounced_at is not null`,
  rated_complained: (row) => `${isRated(row)} and ${row}.complained_at is not null`,
};
