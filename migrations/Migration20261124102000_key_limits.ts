import { Migration } from '@mikro-orm/migrations';

/**
 * What a key with limits starts remembers it, so that its mail keeps them; and erasing contacts has a scope of its own, which the keys
 * that may erase today get.
 */
export class Migration20261124102000_key_limits extends Migration {
  override up(): void {
    this.addSql('alter table campaign_sends add column limited_by uuid');
    this.addSql('alter table events add column limited_by uuid');
    this.addSql('alter table jobs add column limited_by uuid');
    this.addSql('alter table automations add column limited_by uuid');
    this.addSql('alter table automation_runs add column limited_by uuid[]');
    this.addSql(`
      update api_keys set scopes = array_append(scopes, 'contacts:erase')
        where 'contacts:write' = any (scopes) and not 'contacts:erase' = any (scopes)`);
  }
}
