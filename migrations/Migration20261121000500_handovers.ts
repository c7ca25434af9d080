import { Migration } from '@mikro-orm/migrations';

/**
 * What each process hands over to a provider that cannot be searched afterwards: a row before the first byte, the message id
 * once the provider has taken it. A row without one may be with the provider although nobody can tell.
 */
export class Migration20261121000500_handovers extends Migration {
  override up(): void {
    this.addSql(`
      create table provider_handovers (
        claim_id text not null,
        email_id uuid not null,
        message_id text,
        taken_at timestamptz(3),
        begun_at timestamptz(3) not null default now(),
        primary key (claim_id, email_id)
      ) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05)`);
    this.addSql('create index provider_handovers_age on provider_handovers (begun_at)');
  }

  override down(): void {
    this.addSql('drop table provider_handovers');
  }
}
