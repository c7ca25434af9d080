import { Migration } from '@mikro-orm/migrations';

/** The first schema: accounts, projects, audience, templates, mail ledger, campaigns, and the tables that make work durable. */
export class Migration20261121000000_foundation extends Migration {
  override up(): void {
    this.addSql('create extension if not exists pg_trgm');

    // PostgreSQL 18 has uuidv7() of its own; 15 to 17 get one with the same layout (RFC 9562, 5.7).
    this.addSql(`
      do $do$ begin
        if to_regprocedure('pg_catalog.uuidv7()') is null then
          create or replace function public.uuidv7() returns uuid language sql volatile parallel safe as $fn$
            select encode(
              set_bit(set_bit(
                overlay(uuid_send(gen_random_uuid())
                  placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6),
                52, 1), 53, 1), 'hex')::uuid
          $fn$;
        end if;
      end $do$`);

    this.addSql(`
      create table users (
        id uuid primary key,
        email text not null unique,
        password_hash text,
        type text not null default 'PASSWORD' check (type in ('PASSWORD', 'GOOGLE_OAUTH', 'GITHUB_OAUTH')),
        email_verified boolean not null default false,
        session_version integer not null default 0,
        created_at timestamptz(3) not null default now(),
        updated_at timestamptz(3) not null default now()
      )`);

    this.addSql(`
      create table projects (
        id uuid primary key,
        name text not null,
        public_key_hash bytea not null unique,
        secret_key_hash bytea not null unique,
        public_key_sealed text not null,
        secret_key_sealed text not null,
        disabled boolean not null default false,
        disabled_reason text check (disabled_reason in ('REPUTATION', 'PAYMENT_FAILED', 'CONTENT', 'MANUAL')),
        customer text,
        subscription text,
        billing_limit_workflows integer,
        billing_limit_campaigns integer,
        billing_limit_transactional integer,
        billing_limit_inbound integer,
        tracking text not null default 'ENABLED' check (tracking in ('ENABLED', 'DISABLED', 'MARKETING_ONLY')),
        language text not null default 'en',
        escape_contact_data boolean not null default true,
        send_rate integer check (send_rate > 0),
        created_at timestamptz(3) not null default now(),
        updated_at timestamptz(3) not null default now()
      )`);

    this.addSql(`
      create table memberships (
        project_id uuid not null references projects on delete cascade,
        user_id uuid not null references users on delete cascade,
        role text not null check (role in ('OWNER', 'ADMIN', 'MEMBER')),
        created_at timestamptz(3) not null default now(),
        primary key (project_id, user_id)
      )`);
    this.addSql('create index memberships_user on memberships (user_id)');

    this.addSql(`
      create table domains (
        id uuid primary key,
        project_id uuid not null references projects on delete cascade,
        domain text not null unique,
        verified boolean not null default false,
        status text not null default 'Pending'
          check (status in ('NotStarted', 'Pending', 'Success', 'Failed', 'TemporaryFailure')),
        dkim_tokens jsonb not null default '[]',
        records jsonb not null default '[]',
        provider_id text,
        checked_at timestamptz(3),
        created_at timestamptz(3) not null default now(),
        updated_at timestamptz(3) not null default now()
      )`);
    this.addSql('create index domains_project on domains (project_id, created_at desc)');

    // subscription_before holds the value that the last write found, so that one upsert can tell whether it flipped
    // the subscription even when another transaction changed the row a moment before.
    this.addSql(`
      create table contacts (
        id uuid primary key,
        project_id uuid not null references projects on delete cascade,
        email text not null,
        subscribed boolean not null,
        subscription_before boolean not null,
        data jsonb not null default '{}',
        created_at timestamptz(3) not null default now(),
        updated_at timestamptz(3) not null default now(),
        unique (project_id, email)
      )`);
    this.addSql('create index contacts_project on contacts (project_id, id)');
    this.addSql('create index contacts_created on contacts (project_id, created_at, id)');
    this.addSql('create index contacts_data on contacts using gin (data jsonb_path_ops)');
    this.addSql('create index contacts_email_trigrams on contacts using gin (email gin_trgm_ops)');

    this.addSql(`
      create table events (
        id uuid primary key,
        project_id uuid not null references projects on delete cascade,
        contact_id uuid references contacts on delete cascade,
        email_id uuid,
        name text not null,
        data jsonb,
        created_at timestamptz(3) not null default now()
      )`);
    this.addSql('create index events_name on events (project_id, name, created_at, contact_id)');
    this.addSql('create index events_contact on events (contact_id, created_at)');
    this.addSql('create index events_project on events (project_id, id)');

    this.addSql(`
      create table templates (
        id uuid primary key,
        project_id uuid not null references projects on delete cascade,
        name text not null,
        description text,
        subject text not null,
        body text not null,
        "from" text not null,
        from_name text,
        reply_to text,
        type text not null default 'MARKETING' check (type in ('TRANSACTIONAL', 'MARKETING', 'HEADLESS')),
        created_at timestamptz(3) not null default now(),
        updated_at timestamptz(3) not null default now()
      )`);
    this.addSql('create index templates_project on templates (project_id, created_at desc, id)');

    this.addSql(`
      create table campaigns (
        id uuid primary key,
        project_id uuid not null references projects on delete cascade,
        name text not null,
        description text,
        subject text not null,
        body text not null,
        "from" text not null,
        from_name text,
        reply_to text,
        type text not null default 'MARKETING' check (type in ('TRANSACTIONAL', 'MARKETING', 'HEADLESS')),
        status text not null default 'DRAFT'
          check (status in ('DRAFT', 'SCHEDULED', 'SENDING', 'SENT', 'CANCELLED')),
        audience_type text not null check (audience_type in ('ALL', 'SEGMENT', 'FILTERED')),
        audience_condition jsonb,
        segment_id uuid,
        scheduled_for timestamptz(3),
        total_recipients integer not null default 0,
        sent_count integer not null default 0,
        delivered_count integer not null default 0,
        opened_count integer not null default 0,
        clicked_count integer not null default 0,
        bounced_count integer not null default 0,
        complained_count integer not null default 0,
        unsubscribed_count integer not null default 0,
        failed_count integer not null default 0,
        archived boolean not null default false,
        send_seq integer not null default 0,
        sent_at timestamptz(3),
        cancelled_at timestamptz(3),
        audit_note text,
        created_at timestamptz(3) not null default now(),
        updated_at timestamptz(3) not null default now()
      )`);
    this.addSql('create index campaigns_project on campaigns (project_id, created_at desc, id)');

    // The ledger: one row for each message. fillfactor leaves room for the one update that settles a row in place: a batch
    // settles all rows of a page in one transaction, so there must be room for each of them twice. No index may contain a
    // column that this update changes (status, message_id, sent_at …).
    this.addSql(`
      create table emails (
        id uuid primary key,
        project_id uuid not null references projects on delete cascade,
        contact_id uuid not null references contacts on delete cascade,
        to_address text not null,
        to_name text,
        "from" text not null,
        from_name text,
        reply_to text,
        subject text,
        body text,
        render jsonb,
        headers jsonb,
        attachments jsonb,
        source_type text not null check (source_type in ('TRANSACTIONAL', 'CAMPAIGN', 'WORKFLOW', 'INBOUND')),
        message_class text not null check (message_class in ('TRANSACTIONAL', 'MARKETING', 'HEADLESS')),
        template_id uuid,
        campaign_id uuid,
        send_seq integer,
        workflow_execution_id uuid,
        workflow_step_execution_id uuid,
        status text not null default 'PENDING' check (status in ('PENDING', 'SENDING', 'SENT', 'DELIVERED', 'RECEIVED',
          'OPENED', 'CLICKED', 'BOUNCED', 'COMPLAINED', 'FAILED', 'SUPPRESSED')),
        message_id text,
        provider text,
        stream text,
        tracking boolean,
        simulated boolean not null default false,
        suppression jsonb,
        error text,
        opens integer not null default 0,
        clicks integer not null default 0,
        sent_at timestamptz(3),
        delivered_at timestamptz(3),
        opened_at timestamptz(3),
        clicked_at timestamptz(3),
        bounced_at timestamptz(3),
        complained_at timestamptz(3),
        created_at timestamptz(3) not null default now(),
        updated_at timestamptz(3) not null default now()
      ) with (fillfactor = 45)`);
    this.addSql(
      'create unique index emails_campaign on emails (campaign_id, send_seq, contact_id) where campaign_id is not null',
    );
    this.addSql(
      'create unique index emails_step on emails (workflow_step_execution_id) where workflow_step_execution_id is not null',
    );
    this.addSql('create index emails_contact on emails (contact_id, id)');
    this.addSql('create index emails_project on emails (project_id, id)');
    this.addSql('create index emails_template on emails (template_id) where template_id is not null');

    // Mail that is no campaign's and waits for the provider: a small row beside the ledger, gone once it is settled.
    this.addSql(`
      create table email_queue (
        email_id uuid primary key references emails on delete cascade,
        project_id uuid not null,
        claim_id text,
        claimed_at timestamptz(3),
        lookups integer not null default 0,
        attempts integer not null default 0,
        due_at timestamptz(3) not null default now(),
        created_at timestamptz(3) not null default now()
      ) with (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02)`);
    this.addSql('create index email_queue_due on email_queue (project_id, due_at, email_id) where claim_id is null');
    this.addSql('create index email_queue_claims on email_queue (claim_id) where claim_id is not null');

    // A campaign's send: how far the audience is frozen and how far it is claimed. Claims are ranges of contact ids,
    // so that claiming 500 recipients writes one small row and not 500.
    this.addSql(`
      create table campaign_sends (
        campaign_id uuid not null references campaigns on delete cascade,
        send_seq integer not null,
        project_id uuid not null,
        expanded_through uuid,
        expanded_count integer not null default 0,
        expanded boolean not null default false,
        claimed_through uuid,
        closed boolean not null default false,
        created_at timestamptz(3) not null default now(),
        updated_at timestamptz(3) not null default now(),
        primary key (campaign_id, send_seq)
      )`);
    this.addSql('create index campaign_sends_open on campaign_sends (updated_at) where not closed');
    // holder: the attempt that works on the claim, null for whoever comes first after due_at. handed_at: when its messages may
    // last have reached the provider without a verdict, null when none of them can be there.
    this.addSql(`
      create table campaign_claims (
        id text primary key,
        campaign_id uuid not null,
        send_seq integer not null,
        after_contact uuid,
        through_contact uuid not null,
        size integer not null,
        settled boolean not null default false,
        claimed_at timestamptz(3) not null default now(),
        holder text,
        taken_at timestamptz(3) not null default now(),
        handed_at timestamptz(3),
        attempts integer not null default 0,
        due_at timestamptz(3) not null default now(),
        foreign key (campaign_id, send_seq) references campaign_sends on delete cascade
      )`);
    this.addSql('create index campaign_claims_open on campaign_claims (campaign_id, send_seq, id) where not settled');

    // Token buckets: one for each project and one for the provider account (id '00000000-…').
    this.addSql(`
      create table send_buckets (
        id uuid primary key,
        tokens double precision not null,
        refilled_at timestamptz not null default clock_timestamp()
      ) with (fillfactor = 50)`);

    // What the provider said last: while held_until lies ahead, nobody calls it.
    this.addSql(`
      create table provider_holds (
        provider text primary key,
        failures integer not null default 0,
        reason text,
        held_since timestamptz(3),
        held_until timestamptz(3)
      )`);

    this.addSql(`
      create table outbox (
        id uuid primary key,
        dedupe_key text not null unique,
        kind text not null check (kind in ('start', 'signal', 'cancel')),
        workflow_type text,
        workflow_id text not null,
        payload jsonb not null,
        attempts integer not null default 0,
        next_attempt_at timestamptz(3) not null default now(),
        last_error text,
        done_at timestamptz(3),
        created_at timestamptz(3) not null default now()
      )`);
    this.addSql('create index outbox_open on outbox (next_attempt_at, id) where done_at is null');
    this.addSql('create index outbox_open_workflow on outbox (workflow_id, id) where done_at is null');
    this.addSql('create index outbox_done on outbox (done_at) where done_at is not null');

    this.addSql(`
      create table idempotency_keys (
        id uuid primary key,
        project_id uuid not null references projects on delete cascade,
        key text collate "C" not null,
        method text not null,
        path text not null,
        status_code integer,
        created_at timestamptz(3) not null default now(),
        expires_at timestamptz(3) not null,
        unique (project_id, key)
      )`);
    this.addSql('create index idempotency_keys_expiry on idempotency_keys (expires_at)');

    this.addSql(`
      create table rate_windows (
        project_id uuid primary key references projects on delete cascade,
        started_at timestamptz not null,
        used integer not null
      ) with (fillfactor = 50)`);

    this.addSql(`
      create table webhook_receipts (
        source text not null,
        key text not null,
        created_at timestamptz(3) not null default now(),
        primary key (source, key)
      )`);
    this.addSql('create index webhook_receipts_age on webhook_receipts (created_at)');

    // Every process that caches one of these rows listens for its change; the message is sent on commit only.
    this.addSql(`
      create function announce_change() returns trigger language plpgsql as $fn$
      declare
        changed record := coalesce(new, old);
      begin
        perform pg_notify('posthorn_changes', tg_table_name || ':' ||
          case when tg_table_name = 'projects' then changed.id::text else (to_jsonb(changed) ->> 'project_id') end);
        return null;
      end $fn$`);
    for (const table of ['projects', 'domains', 'templates']) {
      this.addSql(
        `create trigger ${table}_announce after insert or update or delete on ${table} for each row execute function announce_change()`,
      );
    }
  }

  override down(): void {
    throw new Error('The first migration cannot be undone: drop the database instead');
  }
}
