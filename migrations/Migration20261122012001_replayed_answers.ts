import { Migration } from '@mikro-orm/migrations';

/** The answer of a request with an Idempotency-Key, for repetitions that are to get it again. */
export class Migration20261122012001_replayed_answers extends Migration {
  override up(): void {
    this.addSql('alter table idempotency_keys add column request_hash text, add column answer text');
  }
}
