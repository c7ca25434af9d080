import { Migration } from '@mikro-orm/migrations';

/**
 * Limits the data of a contact (256 kB, 1,000 keys) and the keys of a project's catalogue, for whoever writes contacts. Writes that
 * make a contact smaller, or leave its data as it is, pass: contacts may be larger from before. The condition of the trigger keeps
 * ordinary writes away from the function; data of less than 8,000 bytes cannot reach a limit (1,001 keys take more).
 */
export class Migration20261122000100_contact_data_limits extends Migration {
  override up(): void {
    this.addSql('create table full_catalogues (project_id uuid primary key references projects on delete cascade)');
    this.addSql(`
      create function catalogue_is_full(project uuid) returns boolean language plpgsql stable as $fn$
      begin
        return exists (select from full_catalogues where project_id = project);
      end $fn$`);
    this.addSql(`
      create function contact_data_problem(project uuid, before jsonb, after jsonb) returns text language plpgsql stable as $fn$
      declare
        bytes integer;
        keys integer;
      begin
        if pg_column_size(after) > 8000 then
          bytes := octet_length(after::text);
          if bytes > 262144 and (before is null or bytes > octet_length(before::text)) then
            return 'contact_data_bytes';
          end if;
          keys := (select count(*) from jsonb_object_keys(after));
          if keys > 1000 and (before is null or keys > (select count(*) from jsonb_object_keys(before))) then
            return 'contact_data_keys';
          end if;
        end if;
        if catalogue_is_full(project) and exists (
          select from jsonb_object_keys(after) as k (key)
          where not coalesce(jsonb_exists(before, k.key), false)
            and not exists (
              select from contact_fields f where f.project_id = project and f.key_hash = md5(k.key)::uuid)) then
          return 'contact_catalogue_keys';
        end if;
        return null;
      end $fn$`);
    this.addSql(`
      create function limit_contact_data() returns trigger language plpgsql as $fn$
      declare
        problem text := contact_data_problem(new.project_id, case when tg_op = 'UPDATE' then old.data end, new.data);
      begin
        if problem is not null then
          raise exception 'the data of a contact exceeds a limit' using errcode = 'check_violation', constraint = problem;
        end if;
        return new;
      end $fn$`);
    this.addSql(`
      create trigger contacts_data_limited before insert or update of data on contacts for each row
        when (pg_column_size(new.data) > 8000 or catalogue_is_full(new.project_id)) execute function limit_contact_data()`);
  }
}
