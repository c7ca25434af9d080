import { Migration } from '@mikro-orm/migrations';

/** Programs that send by SMTP: with which key, from where, when last, and what was refused last. */
export class Migration20261122032000_smtp_clients extends Migration {
  override up(): void {
    this.addSql(`
      create table smtp_clients (
        project_id uuid not null references projects (id) on delete cascade,
        credential text not null,
        ip text not null,
        last_at timestamptz(3) not null default now(),
        accepted_at timestamptz(3),
        refused_at timestamptz(3),
        refusal text,
        constraint smtp_clients_pkey primary key (project_id, credential, ip)
      )`);
  }
}
