import { Migration } from '@mikro-orm/migrations';

/** What checking domains again and again needs to know, keys of our own, and what is still to be removed at a provider. */
export class Migration20261121000901_domains extends Migration {
  override up(): void {
    // verified_at: when it was first found to be right. misses: scheduled checks in a row that did not find what a verified domain must have. pending_since: since when it
    // has been waiting. told: when members were last told of the one and the other.
    this.addSql(`
      alter table domains
        add column dkim_key_sealed text,
        add column verified_at timestamptz(3),
        add column misses smallint not null default 0,
        add column pending_since timestamptz(3) not null default now(),
        add column due_at timestamptz(3) not null default now(),
        add column verified_told_at timestamptz(3),
        add column failed_told_at timestamptz(3)`);
    this.addSql('update domains set verified_at = updated_at where verified');
    this.addSql('create index domains_due on domains (due_at, id)');
    this.addSql(`
      create table domain_removals (
        provider_id text primary key,
        domain text not null,
        due_at timestamptz(3) not null default now(),
        created_at timestamptz(3) not null default now()
      )`);
    this.addSql('create index domain_removals_due on domain_removals (due_at)');

    // Checks write into these rows all the time; caches only care about which domains may send.
    this.addSql('drop trigger domains_announce on domains');
    this.addSql(`
      create trigger domains_announce after insert or delete on domains for each row execute function announce_change()`);
    this.addSql(`
      create trigger domains_announce_verified after update on domains for each row
        when (old.verified is distinct from new.verified or old.domain is distinct from new.domain
          or old.project_id is distinct from new.project_id)
        execute function announce_change()`);
  }
}
