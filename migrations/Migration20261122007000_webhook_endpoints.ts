import { Migration } from '@mikro-orm/migrations';

/** Webhooks out: endpoints that read the events of a project as a feed, and what became of each delivery. */
export class Migration20261122007000_webhook_endpoints extends Migration {
  override up(): void {
    this.addSql(`
      create table webhook_endpoints (
        id uuid not null primary key,
        project_id uuid not null references projects (id) on delete cascade,
        url text not null,
        description text,
        events text[] not null,
        payload text not null default 'full' check (payload in ('full', 'thin')),
        ordered boolean not null default false,
        status text not null default 'ENABLED' check (status in ('ENABLED', 'PAUSED', 'DISABLED')),
        disabled_reason text,
        secret_sealed text not null,
        old_secret_sealed text,
        old_secret_until timestamptz(3),
        cursor_at timestamptz not null,
        cursor_id uuid not null,
        sequence bigint not null default 0,
        counted_from timestamptz(3) not null,
        failing_since timestamptz(3),
        resting_until timestamptz(3),
        created_at timestamptz(3) not null default now(),
        updated_at timestamptz(3) not null default now()
      )`);
    this.addSql('create index webhook_endpoints_project on webhook_endpoints (project_id, created_at)');
    this.addSql(`
      create table webhook_deliveries (
        id uuid not null primary key,
        endpoint_id uuid not null references webhook_endpoints (id) on delete cascade,
        sequence bigint not null,
        event_id uuid not null,
        event_name text not null,
        event_at timestamptz(3) not null,
        status text not null default 'PENDING' check (status in ('PENDING', 'DELIVERED', 'FAILED')),
        attempts int not null default 0,
        due_at timestamptz(3) not null default now(),
        created_at timestamptz(3) not null default now(),
        constraint webhook_deliveries_sequence unique (endpoint_id, sequence),
        constraint webhook_deliveries_event unique (endpoint_id, event_id)
      )`);
    this.addSql(
      `create index webhook_deliveries_due on webhook_deliveries (endpoint_id, due_at, sequence) where status = 'PENDING'`,
    );
    this.addSql(
      `create index webhook_deliveries_failed on webhook_deliveries (endpoint_id, sequence) where status = 'FAILED'`,
    );
    this.addSql('create index webhook_deliveries_span on webhook_deliveries (endpoint_id, event_at)');
    this.addSql('create index webhook_deliveries_created on webhook_deliveries using brin (created_at)');
    this.addSql(`
      create table webhook_attempts (
        id uuid not null primary key,
        delivery_id uuid not null references webhook_deliveries (id) on delete cascade,
        at timestamptz(3) not null,
        status_code int,
        ms int not null,
        answer text,
        error text
      )`);
    this.addSql('create index webhook_attempts_delivery on webhook_attempts (delivery_id, at)');
    this.addSql(`
      create table webhook_replays (
        id uuid not null primary key,
        endpoint_id uuid not null references webhook_endpoints (id) on delete cascade,
        since timestamptz(3) not null,
        until timestamptz(3) not null,
        events text[] not null,
        "only" text not null check ("only" in ('failed', 'all')),
        status text not null default 'RUNNING' check (status in ('RUNNING', 'DONE')),
        place_at timestamptz(3) not null,
        place_id uuid not null,
        requeued int not null default 0,
        created_at timestamptz(3) not null default now(),
        updated_at timestamptz(3) not null default now()
      )`);
    this.addSql(
      `create unique index webhook_replays_running on webhook_replays (endpoint_id) where status = 'RUNNING'`,
    );
    this.addSql('create index webhook_replays_endpoint on webhook_replays (endpoint_id, created_at)');
  }
}
