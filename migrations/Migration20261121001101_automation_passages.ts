import { Migration } from '@mikro-orm/migrations';

/** Every way that people took out of a step counted by the index: plain ways and the outcomes of webhooks as well. */
export class Migration20261121001101_automation_passages extends Migration {
  override up(): void {
    this.addSql(`
      alter table automation_step_runs alter column branch set expression as (coalesce(
        output ->> 'branch', output ->> 'waitOutcome',
        case when status = 'COMPLETED' then
          case when step_type <> 'WEBHOOK' then 'next' when output ->> 'success' = 'true' then 'success' else 'failure' end
        end))`);
  }
}
