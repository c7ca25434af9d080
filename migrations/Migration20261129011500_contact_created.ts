import { Migration } from '@mikro-orm/migrations';

/**
 * New contacts start workflows. They are no events, so their pending enrollments keep the key whose limits hold. Endpoints whose subscription
 * has meant new contacts before there was anything to deliver are audited from when all processes know of it.
 */
export class Migration20261129011500_contact_created extends Migration {
  override up(): void {
    this.addSql('alter table automations drop constraint automations_trigger_type_check');
    this.addSql(`alter table automations add constraint automations_trigger_type_check
      check (trigger_type in ('EVENT', 'MANUAL', 'SCHEDULE', 'CONTACT_CREATED'))`);
    this.addSql(`create index automations_created on automations (project_id)
      where trigger_type = 'CONTACT_CREATED' and enabled`);
    this.addSql('alter table automation_arrivals add column limited_by uuid');
    this.addSql(`update webhook_endpoints set counted_from = greatest(counted_from, now() + interval '1 hour')
      where events && array['*', 'contact.*', 'contact.created']`);
  }
}
