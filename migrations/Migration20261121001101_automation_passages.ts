import { Migration } from '@mikro-orm/migrations';

const expression = `coalesce(
  output ->> 'branch', output ->> 'waitOutcome',
  case when status = 'COMPLETED' then
    case when step_type <> 'WEBHOOK' then 'next' when output ->> 'success' = 'true' then 'success' else 'failure' end
    end)`;

/** Every way that people took out of a step counted by the index: plain ways and the outcomes of webhooks as well. */
export class Migration20261121001101_automation_passages extends Migration {
  override up(): void {
    // `set expression` came with Postgres 17; before it, a generated column has to be made anew, and its index with it.
    this.addSql(`
      do $migration$
      begin
        if current_setting('server_version_num')::int >= 170000 then
          execute $sql$alter table automation_step_runs alter column branch set expression as (${expression})$sql$;
        else
          alter table automation_step_runs drop column branch;
          alter table automation_step_runs add column branch text generated always as (${expression}) stored;
          create index automation_step_runs_branch on automation_step_runs (step_id, branch) where branch is not null;
        end if;
      end
      $migration$`);
  }
}
