import { Migration } from '@mikro-orm/migrations';

/** Which ways out of conditions and waits were taken, counted by an index; schedules of Temporal in the outbox. */
export class Migration20261121000701_automation_ways extends Migration {
  override up(): void {
    this.addSql(`
      alter table automation_step_runs add column branch text
        generated always as (coalesce(output ->> 'branch', output ->> 'waitOutcome')) stored`);
    this.addSql(
      'create index automation_step_runs_branch on automation_step_runs (step_id, branch) where branch is not null',
    );

    this.addSql('alter table outbox drop constraint outbox_kind_check');
    this.addSql(`
      alter table outbox add constraint outbox_kind_check
        check (kind in ('start', 'signal', 'cancel', 'schedule', 'unschedule'))`);
  }
}
