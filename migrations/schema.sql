-- The schema of the database, as all migrations and functions together make it, in the order of names.
-- Written by "npm run schema". Change it by a migration, or by the file of a function in migrations/functions.
-- Only the comments above tables are written by hand, and kept.

create extension btree_gin;
create extension pg_trgm;

create type new_event as (id uuid, project_id uuid, contact_id uuid, email_id uuid, name text, data jsonb, mail_at timestamp with time zone, limited_by uuid);

create type returned_mail as (id uuid, delay_ms double precision, is_unconfirmed boolean, attempts integer, refusal text);

create type settled_claim as (id text, provider text, stream text, campaign uuid, seq integer, holder text);

create type settled_mail as (ids uuid[], outcomes text[], message_ids text[], instants timestamp with time zone[], subjects text[], bodies text[], streams text[], reasons jsonb[], flip_ids uuid[], event_ids uuid[]);

-- A single-use link that verifies an address or resets a password, found by the hash of its token.
create table account_tokens (
  token_hash bytea not null,
  user_id uuid not null,
  purpose text not null,
  expires_at timestamp(3) with time zone not null,
  created_at timestamp(3) with time zone default now() not null,
  constraint account_tokens_pkey primary key (token_hash),
  constraint account_tokens_user_id_fkey foreign key (user_id) references users(id) on delete cascade,
  constraint account_tokens_purpose_check check ((purpose = any (array['VERIFY_EMAIL'::text, 'RESET_PASSWORD'::text])))
);
create index account_tokens_expiry on account_tokens using btree (expires_at);
create index account_tokens_user on account_tokens using btree (user_id, purpose);

-- How many items of a kind an hour had, up to `counted_through`. Rows of the same hour add up, so there is no key.
create table activity_counts (
  project_id uuid not null,
  kind text not null,
  hour timestamp(3) with time zone not null,
  items integer not null,
  constraint activity_counts_project_id_fkey foreign key (project_id) references projects(id) on delete cascade
) with (autovacuum_vacuum_scale_factor=0.05);
create index activity_counts_hour on activity_counts using btree (project_id, hour, kind) include (items);
create index activity_counts_taken_off on activity_counts using btree (project_id) where (items < 0);

-- A key with scopes. Until `old_hash_until`, the key that it had before its last rotation works too.
create table api_keys (
  id uuid not null,
  project_id uuid not null,
  name text not null,
  prefix text not null,
  hash bytea not null,
  old_hash bytea,
  old_hash_until timestamp(3) with time zone,
  scopes text[] not null,
  sender_domains text[],
  recipients jsonb,
  expires_at timestamp(3) with time zone,
  last_used_at timestamp(3) with time zone,
  created_by uuid,
  created_at timestamp(3) with time zone default now() not null,
  updated_at timestamp(3) with time zone default now() not null,
  mcp jsonb,
  constraint api_keys_pkey primary key (id),
  constraint api_keys_hash_key unique (hash),
  constraint api_keys_old_hash_key unique (old_hash),
  constraint api_keys_created_by_fkey foreign key (created_by) references users(id) on delete set null,
  constraint api_keys_project_id_fkey foreign key (project_id) references projects(id) on delete cascade
);
create index api_keys_project on api_keys using btree (project_id, created_at);
create trigger api_keys_announce after insert or delete or update on api_keys for each row execute function announce_change();

-- Attempts in a fixed window, shared by all processes. The subject is hashed, so that the table does not list what strangers typed.
create table attempt_windows (
  scope text not null,
  subject bytea not null,
  used integer not null,
  ends_at timestamp with time zone not null,
  constraint attempt_windows_pkey primary key (scope, subject)
) with (fillfactor=70);
create index attempt_windows_end on attempt_windows using btree (ends_at);

-- The end of a project's log: position and hash of the last entry, and the last one that retention has removed.
create table audit_heads (
  project_id uuid not null,
  "position" bigint not null,
  removed_through bigint default 0 not null,
  hash bytea not null,
  constraint audit_heads_pkey primary key (project_id)
);

-- A change that somebody made. Positions of a project have no gaps, and `prev_hash` is the hash of the entry before.
create table audit_log (
  id uuid not null,
  project_id uuid not null,
  "position" bigint not null,
  at timestamp(3) with time zone not null,
  actor_kind text not null,
  actor_id text,
  action text not null,
  target text,
  before jsonb,
  after jsonb,
  request_id text,
  ip_hash bytea,
  prev_hash bytea not null,
  redacted_hash bytea,
  constraint audit_log_pkey primary key (id),
  constraint audit_log_position unique (project_id, "position"),
  constraint audit_log_actor_kind_check check ((actor_kind = any (array['user'::text, 'key'::text, 'mcp'::text, 'system'::text])))
);
create index audit_log_at on audit_log using btree (at);

-- A pending enrollment. `event_id` is the event, or a fixed id of a contact and a time of a schedule, so that nothing starts twice.
create table automation_arrivals (
  id uuid default uuidv7() not null,
  automation_id uuid not null,
  project_id uuid not null,
  contact_id uuid not null,
  event_id uuid not null,
  created_at timestamp(3) with time zone default now() not null,
  limited_by uuid,
  constraint automation_arrivals_pkey primary key (id),
  constraint automation_arrivals_automation_id_event_id_key unique (automation_id, event_id),
  constraint automation_arrivals_automation_id_fkey foreign key (automation_id) references automations(id) on delete cascade
) with (autovacuum_vacuum_scale_factor=0.02);
create index automation_arrivals_contact on automation_arrivals using btree (contact_id);

-- How far an automation that dates start has followed the changes of contacts: those before an instant, and of that instant up to an ID.
create table automation_date_places (
  automation_id uuid not null,
  revision integer not null,
  since timestamp(3) with time zone not null,
  followed_at timestamp(3) with time zone not null,
  followed_id uuid not null,
  constraint automation_date_places_pkey primary key (automation_id),
  constraint automation_date_places_automation_id_fkey foreign key (automation_id) references automations(id) on delete cascade
);

-- When a date of a contact starts an automation next, null while it has none to come, and the day of the last one that did.
create table automation_dates (
  contact_id uuid not null,
  automation_id uuid not null,
  due_at timestamp(3) with time zone,
  is_invalid boolean default false not null,
  last_day date,
  constraint automation_dates_pkey primary key (contact_id, automation_id),
  constraint automation_dates_automation_id_fkey foreign key (automation_id) references automations(id) on delete cascade
);
create index automation_dates_due on automation_dates using btree (automation_id, due_at);
create index automation_dates_invalid on automation_dates using btree (automation_id) where is_invalid;

-- How often a contact entered an automation, and the last reason why it did not. The lock of the row serializes the starts of a
-- contact.
create table automation_entries (
  automation_id uuid not null,
  contact_id uuid not null,
  last_entry integer default 0 not null,
  refused_at timestamp(3) with time zone,
  refused_reason text,
  refused_event_id uuid,
  refusals integer default 0 not null,
  constraint automation_entries_pkey primary key (automation_id, contact_id),
  constraint automation_entries_automation_id_fkey foreign key (automation_id) references automations(id) on delete cascade
) with (fillfactor=70);
create index automation_entries_contact on automation_entries using btree (contact_id);

-- What became of the goal of the version that a run entered by: within `until`, and tested next at `check_at`, which is null once that is decided. It stays
-- when the run is removed, without the contact.
create table automation_goals (
  run_id uuid not null,
  version_id uuid not null,
  contact_id uuid,
  entered_at timestamp(3) with time zone not null,
  until timestamp(3) with time zone not null,
  check_at timestamp(3) with time zone,
  met_at timestamp(3) with time zone,
  had_met boolean default false not null,
  branches jsonb,
  constraint automation_goals_pkey primary key (run_id),
  constraint automation_goals_version_id_fkey foreign key (version_id) references automation_versions(id) on delete cascade
);
create index automation_goals_check on automation_goals using btree (check_at) where (check_at is not null);
create index automation_goals_entered on automation_goals using btree (version_id, entered_at);
create index automation_goals_open on automation_goals using btree (contact_id, version_id) where (check_at is not null);

-- A migration of runs between versions. The counts move in the transaction that moves the runs.
create table automation_migrations (
  id uuid not null,
  project_id uuid not null,
  automation_id uuid not null,
  to_version_id uuid not null,
  rules jsonb not null,
  state text default 'waiting'::text not null,
  through uuid,
  expected integer not null,
  finished integer default 0 not null,
  moved_at_next_step integer default 0 not null,
  moved_now integer default 0 not null,
  exited integer default 0 not null,
  passed_over integer default 0 not null,
  failed_reason text,
  created_at timestamp(3) with time zone default now() not null,
  updated_at timestamp(3) with time zone default now() not null,
  completed_at timestamp(3) with time zone,
  constraint automation_migrations_pkey primary key (id),
  constraint automation_migrations_automation_id_fkey foreign key (automation_id) references automations(id) on delete cascade,
  constraint automation_migrations_project_id_fkey foreign key (project_id) references projects(id) on delete cascade,
  constraint automation_migrations_to_version_id_fkey foreign key (to_version_id) references automation_versions(id),
  constraint automation_migrations_state_check check ((state = any (array['waiting'::text, 'active'::text, 'completed'::text, 'cancelled'::text, 'failed'::text])))
);
create index automation_migrations_automation on automation_migrations using btree (automation_id, created_at desc);
create unique index automation_migrations_open on automation_migrations using btree (automation_id) where (state = any (array['waiting'::text, 'active'::text]));
create index automation_migrations_stalled on automation_migrations using btree (updated_at) where (state = any (array['waiting'::text, 'active'::text]));

-- How many runs that retention has removed took a path of a step on a day in UTC; '' for none.
create table automation_path_sums (
  automation_id uuid not null,
  step_id uuid not null,
  day date not null,
  branch text not null,
  runs integer not null,
  constraint automation_path_sums_pkey primary key (automation_id, step_id, day, branch),
  constraint automation_path_sums_automation_id_fkey foreign key (automation_id) references automations(id) on delete cascade
);

-- Starts that the guard against loops between automations refused.
create table automation_refusals (
  automation_id uuid not null,
  refused bigint default 0 not null,
  last_refused_at timestamp(3) with time zone default now() not null,
  constraint automation_refusals_pkey primary key (automation_id),
  constraint automation_refusals_automation_id_fkey foreign key (automation_id) references automations(id) on delete cascade
);

-- A version of a graph that a share of new contacts gets first (in hundredths of a percent), and what it came to.
create table automation_rollouts (
  id uuid not null,
  created_at timestamp(3) with time zone default now() not null,
  updated_at timestamp(3) with time zone default now() not null,
  automation_id uuid not null,
  version_id uuid not null,
  before_version_id uuid not null,
  share integer not null,
  stop_if jsonb not null,
  days integer not null,
  state text default 'RUNNING'::text not null,
  stopped jsonb,
  counts jsonb,
  ended_at timestamp(3) with time zone,
  constraint automation_rollouts_pkey primary key (id),
  constraint automation_rollouts_automation_id_fkey foreign key (automation_id) references automations(id) on delete cascade,
  constraint automation_rollouts_before_version_id_fkey foreign key (before_version_id) references automation_versions(id),
  constraint automation_rollouts_version_id_fkey foreign key (version_id) references automation_versions(id),
  constraint automation_rollouts_state_check check ((state = any (array['RUNNING'::text, 'FINISHED'::text, 'BACK'::text, 'STOPPED'::text, 'REPLACED'::text])))
);
create index automation_rollouts_automation on automation_rollouts using btree (automation_id, created_at desc);
create unique index automation_rollouts_running on automation_rollouts using btree (automation_id) where (state = 'RUNNING'::text);

-- A contact going through an automation. `seq` is the number of its next step execution; `next_version_id` is the version it takes
-- over when it leaves its current step; `limited_by` the keys whose limits hold for its mail. Mail of steps before `sent_before` is not sent again.
create table automation_runs (
  id uuid not null,
  project_id uuid not null,
  automation_id uuid not null,
  version_id uuid not null,
  next_version_id uuid,
  contact_id uuid not null,
  entry integer not null,
  status text default 'RUNNING'::text not null,
  current_step_id uuid,
  exit_reason text,
  context jsonb,
  seq integer default 0 not null,
  due_at timestamp(3) with time zone,
  source_event_id uuid,
  started_at timestamp(3) with time zone default now() not null,
  completed_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone default now() not null,
  updated_at timestamp(3) with time zone default now() not null,
  limited_by uuid[],
  sent_before integer,
  exit_event_id uuid,
  constraint automation_runs_pkey primary key (id),
  constraint automation_runs_automation_id_contact_id_entry_key unique (automation_id, contact_id, entry),
  constraint automation_runs_automation_id_fkey foreign key (automation_id) references automations(id) on delete cascade,
  constraint automation_runs_next_version_id_fkey foreign key (next_version_id) references automation_versions(id),
  constraint automation_runs_version_id_fkey foreign key (version_id) references automation_versions(id),
  constraint automation_runs_status_check check ((status = any (array['RUNNING'::text, 'WAITING'::text, 'COMPLETED'::text, 'EXITED'::text, 'FAILED'::text, 'CANCELLED'::text])))
) with (fillfactor=70, autovacuum_vacuum_scale_factor=0.05);
create unique index automation_runs_active on automation_runs using btree (automation_id, contact_id) where (status = any (array['RUNNING'::text, 'WAITING'::text]));
create index automation_runs_completed on automation_runs using btree (project_id, completed_at, id) where (completed_at is not null);
create index automation_runs_contact on automation_runs using btree (contact_id, started_at desc);
create index automation_runs_contact_completed on automation_runs using btree (contact_id, completed_at, id) where (completed_at is not null);
create index automation_runs_due on automation_runs using btree (due_at) where (status = any (array['RUNNING'::text, 'WAITING'::text]));
create index automation_runs_ended on automation_runs using btree (automation_id, status, started_at desc, id desc) where (not (status = any (array['RUNNING'::text, 'WAITING'::text])));
create unique index automation_runs_event on automation_runs using btree (automation_id, source_event_id) where (source_event_id is not null);
create index automation_runs_inside on automation_runs using btree (automation_id, current_step_id, id, status) where (status = any (array['RUNNING'::text, 'WAITING'::text]));
create index automation_runs_list on automation_runs using btree (automation_id, started_at desc, id desc);
create index automation_runs_next_version on automation_runs using btree (next_version_id) where (next_version_id is not null);
create index automation_runs_project on automation_runs using btree (project_id, started_at desc, id desc);
create index automation_runs_version on automation_runs using btree (version_id);
create index automation_runs_walk on automation_runs using btree (automation_id, id) where (status = any (array['RUNNING'::text, 'WAITING'::text]));
create trigger automation_runs_forgotten after delete on automation_runs referencing old table as gone for each statement execute function forget_runs();

-- One execution of a step. `outcome` is set once, by the event or by the timeout, whichever is first. `turn_ms` is how long after `scheduled_for` it is the
-- turn of the contact, where others of the project wait for that instant too.
create table automation_step_runs (
  id uuid not null,
  run_id uuid not null,
  project_id uuid not null,
  contact_id uuid not null,
  step_id uuid not null,
  seq integer not null,
  step_type text not null,
  step_name text not null,
  status text not null,
  scheduled_for timestamp(3) with time zone,
  execute_after timestamp(3) with time zone,
  event_name text,
  outcome text,
  resume_event_id uuid,
  input jsonb,
  output jsonb,
  error text,
  started_at timestamp(3) with time zone default now() not null,
  completed_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone default now() not null,
  updated_at timestamp(3) with time zone default now() not null,
  unwritten_calls smallint default 0 not null,
  repeated_calls smallint default 0 not null,
  turn_ms integer default 0 not null,
  branch text generated always as (coalesce((output ->> 'branch'::text), (output ->> 'waitOutcome'::text), case when (status = 'COMPLETED'::text) then case when (step_type <> 'WEBHOOK'::text) then 'next'::text when ((output ->> 'success'::text) = 'true'::text) then 'success'::text else 'failure'::text end else null::text end)) stored,
  constraint automation_step_runs_pkey primary key (id),
  constraint automation_step_runs_run_id_seq_key unique (run_id, seq),
  constraint automation_step_runs_run_id_fkey foreign key (run_id) references automation_runs(id) on delete cascade,
  constraint automation_step_runs_outcome_check check ((outcome = any (array['EVENT'::text, 'TIMEOUT'::text]))),
  constraint automation_step_runs_status_check check ((status = any (array['PENDING'::text, 'SCHEDULED'::text, 'WAITING'::text, 'RUNNING'::text, 'COMPLETED'::text, 'SKIPPED'::text, 'FAILED'::text])))
) with (fillfactor=70, autovacuum_vacuum_scale_factor=0.05);
create index automation_step_runs_delays on automation_step_runs using btree (project_id, scheduled_for, id) where (status = 'SCHEDULED'::text);
create index automation_step_runs_invalid_zones on automation_step_runs using btree (step_id, started_at) where (output ? 'invalidZone'::text);
create index automation_step_runs_reached on automation_step_runs using btree (step_id, started_at, branch, status);
create index automation_step_runs_resolved on automation_step_runs using btree (updated_at, id) where ((status = 'WAITING'::text) and (resume_event_id is not null));
create index automation_step_runs_turns on automation_step_runs using btree (project_id, scheduled_for, turn_ms) where ((step_type = 'WAIT_UNTIL'::text) and (status = 'SCHEDULED'::text));
create index automation_step_runs_until on automation_step_runs using btree (contact_id) where ((step_type = 'WAIT_UNTIL'::text) and (status = 'SCHEDULED'::text));
create index automation_step_runs_waits on automation_step_runs using btree (project_id, event_name, contact_id) where ((status = 'WAITING'::text) and (outcome is null));

-- A step of the graph that is being edited.
create table automation_steps (
  id uuid not null,
  automation_id uuid not null,
  type text not null,
  name text not null,
  "position" jsonb not null,
  config jsonb default '{}'::jsonb not null,
  template_id uuid,
  created_at timestamp(3) with time zone default now() not null,
  updated_at timestamp(3) with time zone default now() not null,
  note text,
  constraint automation_steps_pkey primary key (id),
  constraint automation_steps_automation_id_fkey foreign key (automation_id) references automations(id) on delete cascade,
  constraint automation_steps_template_id_fkey foreign key (template_id) references templates(id) on delete set null,
  constraint automation_steps_type_check check ((type = any (array['TRIGGER'::text, 'SEND_EMAIL'::text, 'DELAY'::text, 'WAIT_FOR_EVENT'::text, 'WAIT_UNTIL'::text, 'CONDITION'::text, 'SPLIT'::text, 'WEBHOOK'::text, 'UPDATE_CONTACT'::text, 'EXIT'::text])))
);
create index automation_steps_automation on automation_steps using btree (automation_id, created_at, id);
create index automation_steps_template on automation_steps using btree (template_id) where (template_id is not null);
create unique index automation_steps_trigger on automation_steps using btree (automation_id) where (type = 'TRIGGER'::text);

-- When an automation was created, enabled and disabled.
create table automation_switches (
  id uuid default uuidv7() not null,
  automation_id uuid not null,
  at timestamp(3) with time zone default now() not null,
  enabled boolean not null,
  constraint automation_switches_pkey primary key (id),
  constraint automation_switches_automation_id_fkey foreign key (automation_id) references automations(id) on delete cascade
);
create index automation_switches_automation on automation_switches using btree (automation_id, at);

-- A path from one step to another in the graph that is being edited.
create table automation_transitions (
  id uuid not null,
  automation_id uuid not null,
  from_step_id uuid not null,
  to_step_id uuid not null,
  branch text,
  wait_outcome text,
  priority integer default 0 not null,
  created_at timestamp(3) with time zone default now() not null,
  updated_at timestamp(3) with time zone default now() not null,
  constraint automation_transitions_pkey primary key (id),
  constraint automation_transitions_automation_id_fkey foreign key (automation_id) references automations(id) on delete cascade,
  constraint automation_transitions_from_step_id_fkey foreign key (from_step_id) references automation_steps(id) on delete cascade,
  constraint automation_transitions_to_step_id_fkey foreign key (to_step_id) references automation_steps(id) on delete cascade,
  constraint automation_transitions_wait_outcome_check check ((wait_outcome = any (array['EVENT'::text, 'TIMEOUT'::text])))
);
create index automation_transitions_automation on automation_transitions using btree (automation_id);
create index automation_transitions_from on automation_transitions using btree (from_step_id);
create index automation_transitions_to on automation_transitions using btree (to_step_id);

-- A published graph, never changed once written: runs are pinned to one.
create table automation_versions (
  id uuid not null,
  automation_id uuid not null,
  version integer not null,
  graph jsonb not null,
  hash bytea not null,
  created_at timestamp(3) with time zone default now() not null,
  layout jsonb,
  notes jsonb,
  constraint automation_versions_pkey primary key (id),
  constraint automation_versions_automation_id_hash_key unique (automation_id, hash),
  constraint automation_versions_automation_id_version_key unique (automation_id, version),
  constraint automation_versions_automation_id_fkey foreign key (automation_id) references automations(id) on delete cascade
);

-- An event by which a version of a graph ends its runs: its name, or `segment:<id>` for that of contacts who leave the segment.
create table automation_watches (
  version_id uuid not null,
  event_name text not null,
  project_id uuid not null,
  automation_id uuid not null,
  ends boolean default true not null,
  counts boolean default false not null,
  waits boolean default false not null,
  constraint automation_watches_pkey primary key (version_id, event_name),
  constraint automation_watches_version_id_fkey foreign key (version_id) references automation_versions(id) on delete cascade
);
create index automation_watches_event on automation_watches using btree (project_id, event_name);

-- A workflow that contacts go through. `graph_dirty`: steps or transitions changed since `current_version_id` was written.
-- `schedule_revision` counts what the schedule in Temporal must follow. `limited_by` is the key whose limits hold for its mail,
-- where one with limits enabled it. Those whom a pause held go on from `resumed_at` to `spread_until`.
create table automations (
  id uuid not null,
  project_id uuid not null,
  name text not null,
  description text,
  enabled boolean default false not null,
  trigger_type text default 'EVENT'::text not null,
  trigger_config jsonb,
  allow_reentry boolean default false not null,
  graph_dirty boolean default true not null,
  current_version_id uuid,
  schedule_revision integer default 0 not null,
  created_at timestamp(3) with time zone default now() not null,
  updated_at timestamp(3) with time zone default now() not null,
  revision integer default 1 not null,
  edited_at timestamp(3) with time zone,
  edited_by uuid,
  limited_by uuid,
  removed_runs integer default 0 not null,
  paused_at timestamp(3) with time zone,
  resumed_at timestamp(3) with time zone,
  spread_until timestamp(3) with time zone,
  event_name text generated always as ( case when (trigger_type = 'EVENT'::text) then (trigger_config ->> 'eventName'::text) else null::text end) stored,
  constraint automations_pkey primary key (id),
  constraint automations_edited_by_fkey foreign key (edited_by) references users(id) on delete set null,
  constraint automations_project_id_fkey foreign key (project_id) references projects(id) on delete cascade,
  constraint automations_trigger_type_check check ((trigger_type = any (array['EVENT'::text, 'MANUAL'::text, 'SCHEDULE'::text, 'CONTACT_CREATED'::text, 'DATE'::text])))
);
create index automations_created on automations using btree (project_id) where ((trigger_type = 'CONTACT_CREATED'::text) and enabled);
create index automations_dates on automations using btree (id) where ((trigger_type = 'DATE'::text) and enabled);
create index automations_event on automations using btree (project_id, event_name) where enabled;
create index automations_project on automations using btree (project_id, created_at desc, id desc);
create index automations_schedule on automations using btree (id) where (trigger_type = 'SCHEDULE'::text);
create trigger automations_announce after insert or delete or update on automations for each row execute function announce_change();

-- The look of a project's emails that are written as blocks; a project without a row has the plain kit.
create table brands (
  project_id uuid not null,
  kit jsonb not null,
  updated_at timestamp(3) with time zone default now() not null,
  constraint brands_pkey primary key (project_id),
  constraint brands_project_id_fkey foreign key (project_id) references projects(id) on delete cascade
);

-- The first slice of a send, the limits that stop the campaign, and what came of it.
create table campaign_canaries (
  campaign_id uuid not null,
  send_seq integer not null,
  recipients integer not null,
  hold_seconds integer not null,
  stop_if jsonb not null,
  min_delivered integer not null,
  state text default 'WAITING'::text not null,
  chosen integer,
  held_until timestamp(3) with time zone,
  released_at timestamp(3) with time zone,
  ended_at timestamp(3) with time zone,
  stopped jsonb,
  counts jsonb,
  created_at timestamp(3) with time zone default now() not null,
  updated_at timestamp(3) with time zone default now() not null,
  constraint campaign_canaries_pkey primary key (campaign_id, send_seq),
  constraint campaign_canaries_campaign_id_send_seq_fkey foreign key (campaign_id, send_seq) references campaign_sends(campaign_id, send_seq) on delete cascade,
  constraint campaign_canaries_state_check check ((state = any (array['WAITING'::text, 'SENDING'::text, 'HOLDING'::text, 'STOPPED'::text, 'PASSED'::text])))
);

-- A member of the slice, until the canary has passed.
create table campaign_canary_contacts (
  campaign_id uuid not null,
  send_seq integer not null,
  contact_id uuid not null,
  constraint campaign_canary_contacts_pkey primary key (campaign_id, send_seq, contact_id),
  constraint campaign_canary_contacts_campaign_id_send_seq_fkey foreign key (campaign_id, send_seq) references campaign_canaries(campaign_id, send_seq) on delete cascade
);

-- A range of recipients that one attempt hands over. `holder` is the attempt that works on it, `handed_at` when its messages may
-- last have reached the provider unconfirmed. `version` is the content it carries; `former_version` the content of the claim whose
-- rest it is, where that was put back before the content was replaced. `contacts` are its recipients where their quiet hours were over:
-- then its range is empty.
create table campaign_claims (
  id text not null,
  campaign_id uuid not null,
  send_seq integer not null,
  after_contact uuid,
  through_contact uuid not null,
  size integer not null,
  settled boolean default false not null,
  claimed_at timestamp(3) with time zone default now() not null,
  holder text,
  taken_at timestamp(3) with time zone default now() not null,
  handed_at timestamp(3) with time zone,
  attempts integer default 0 not null,
  due_at timestamp(3) with time zone default now() not null,
  canary boolean default false not null,
  version integer default 1 not null,
  former_version integer,
  contacts uuid[],
  constraint campaign_claims_pkey primary key (id),
  constraint campaign_claims_campaign_id_send_seq_fkey foreign key (campaign_id, send_seq) references campaign_sends(campaign_id, send_seq) on delete cascade
);
create index campaign_claims_open on campaign_claims using btree (campaign_id, send_seq, id) where (not settled);

-- A recipient of a send who is in quiet hours, until a claim takes it.
create table campaign_held_contacts (
  campaign_id uuid not null,
  send_seq integer not null,
  contact_id uuid not null,
  due_at timestamp(3) with time zone not null,
  constraint campaign_held_contacts_pkey primary key (contact_id, campaign_id, send_seq),
  constraint campaign_held_contacts_campaign_id_send_seq_fkey foreign key (campaign_id, send_seq) references campaign_sends(campaign_id, send_seq) on delete cascade
) with (autovacuum_vacuum_scale_factor=0.02);
create index campaign_held_contacts_due on campaign_held_contacts using btree (campaign_id, send_seq, due_at, contact_id);

-- What became of the mail of a send within an hour; each recipient counts once in each column.
create table campaign_hours (
  campaign_id uuid not null,
  send_seq integer not null,
  hour timestamp(3) with time zone not null,
  sent integer default 0 not null,
  delivered integer default 0 not null,
  opened integer default 0 not null,
  clicked integer default 0 not null,
  bounced integer default 0 not null,
  constraint campaign_hours_pkey primary key (campaign_id, send_seq, hour),
  constraint campaign_hours_campaign_id_fkey foreign key (campaign_id) references campaigns(id) on delete cascade
);

-- What the rows of a send's ledger came to that retention has removed; `reason` is empty for what was handed over.
create table campaign_ledger_sums (
  campaign_id uuid not null,
  send_seq integer not null,
  verdict text not null,
  reason text not null,
  recipients integer not null,
  constraint campaign_ledger_sums_pkey primary key (campaign_id, send_seq, verdict, reason),
  constraint campaign_ledger_sums_campaign_id_fkey foreign key (campaign_id) references campaigns(id) on delete cascade,
  constraint campaign_ledger_sums_verdict_check check ((verdict = any (array['handed_over'::text, 'skipped'::text, 'failed'::text])))
);

-- A link of a send that was clicked; '' stands for those beyond the first 200.
create table campaign_links (
  campaign_id uuid not null,
  send_seq integer not null,
  link text not null,
  clicks integer not null,
  recipients integer not null,
  constraint campaign_links_pkey primary key (campaign_id, send_seq, link),
  constraint campaign_links_campaign_id_fkey foreign key (campaign_id) references campaigns(id) on delete cascade
);

-- A send of a campaign: how far its audience is frozen and how far it is claimed. `review_id` is the dry run that it follows, and
-- `drift` how far the audience may have changed since. `limited_by` is the key whose limits hold, where one with limits began it.
create table campaign_sends (
  campaign_id uuid not null,
  send_seq integer not null,
  project_id uuid not null,
  expanded_through uuid,
  expanded_count integer default 0 not null,
  expanded boolean default false not null,
  claimed_through uuid,
  closed boolean default false not null,
  created_at timestamp(3) with time zone default now() not null,
  updated_at timestamp(3) with time zone default now() not null,
  review_id uuid,
  drift text,
  most_unapproved integer,
  canary boolean default false not null,
  limited_by uuid,
  constraint campaign_sends_pkey primary key (campaign_id, send_seq),
  constraint campaign_sends_campaign_id_fkey foreign key (campaign_id) references campaigns(id) on delete cascade
);
create index campaign_sends_open on campaign_sends using btree (updated_at) where (not closed);

-- A content of a send that was replaced while it was paused, and how many got it. The content it has now is that of the campaign.
create table campaign_versions (
  campaign_id uuid not null,
  send_seq integer not null,
  version integer not null,
  subject text not null,
  body text not null,
  sent integer not null,
  replaced_at timestamp(3) with time zone default now() not null,
  constraint campaign_versions_pkey primary key (campaign_id, send_seq, version),
  constraint campaign_versions_campaign_id_fkey foreign key (campaign_id) references campaigns(id) on delete cascade
);

-- One mailing to an audience. Its status and counters are moved by guarded SQL only, so that a request which read it earlier cannot
-- undo what happened since.
create table campaigns (
  id uuid not null,
  project_id uuid not null,
  name text not null,
  description text,
  subject text not null,
  body text not null,
  "from" text not null,
  from_name text,
  reply_to text,
  type text default 'MARKETING'::text not null,
  status text default 'DRAFT'::text not null,
  audience_type text not null,
  audience_condition jsonb,
  segment_id uuid,
  scheduled_for timestamp(3) with time zone,
  total_recipients integer default 0 not null,
  sent_count integer default 0 not null,
  delivered_count integer default 0 not null,
  opened_count integer default 0 not null,
  clicked_count integer default 0 not null,
  bounced_count integer default 0 not null,
  complained_count integer default 0 not null,
  unsubscribed_count integer default 0 not null,
  failed_count integer default 0 not null,
  archived boolean default false not null,
  send_seq integer default 0 not null,
  sent_at timestamp(3) with time zone,
  cancelled_at timestamp(3) with time zone,
  audit_note text,
  created_at timestamp(3) with time zone default now() not null,
  updated_at timestamp(3) with time zone default now() not null,
  paused_at timestamp(3) with time zone,
  skipped_count integer default 0 not null,
  resend_of uuid,
  resend_seq integer,
  revision integer default 1 not null,
  document jsonb,
  pause_reason text,
  content_version integer default 1 not null,
  correction jsonb,
  constraint campaigns_pkey primary key (id),
  constraint campaigns_project_id_fkey foreign key (project_id) references projects(id) on delete cascade,
  constraint campaigns_audience_type_check check ((audience_type = any (array['ALL'::text, 'SEGMENT'::text, 'FILTERED'::text]))),
  constraint campaigns_check check (((resend_of is null) = (resend_seq is null))),
  constraint campaigns_correction_check check (((correction is null) or (resend_of is not null))),
  constraint campaigns_status_check check ((status = any (array['DRAFT'::text, 'SCHEDULED'::text, 'SENDING'::text, 'SENT'::text, 'CANCELLED'::text]))),
  constraint campaigns_type_check check ((type = any (array['TRANSACTIONAL'::text, 'MARKETING'::text, 'HEADLESS'::text])))
);
create index campaigns_project on campaigns using btree (project_id, created_at desc, id);
create unique index campaigns_resend on campaigns using btree (resend_of, resend_seq) where ((resend_of is not null) and (correction is null));
create index campaigns_scheduled on campaigns using btree (project_id, scheduled_for, id) where (status = 'SCHEDULED'::text);
create index campaigns_segment on campaigns using btree (segment_id) where (segment_id is not null);
create index campaigns_sending on campaigns using btree (project_id) where (status = 'SENDING'::text);
create index campaigns_sent on campaigns using btree (project_id, sent_at, id) where (sent_at is not null);

-- A change of a contact that is neither in the catalogue nor in the history yet: `data` of one that was created (sign 1) or deleted
-- (sign -1), or data `before` and `after` (sign 0; `data` is the JSON null). Append-only, without a key; the fold deletes what it
-- has taken. `limited_by` is the key whose limits hold for what the change starts.
create table contact_changes (
  project_id uuid not null,
  data jsonb not null,
  subscribed boolean not null,
  sign smallint not null,
  contact_id uuid,
  at timestamp(6) with time zone,
  cause text,
  before jsonb,
  after jsonb,
  subscribed_before boolean,
  email_before text,
  email_after text,
  limited_by uuid
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=20000);
create index contact_changes_limited on contact_changes using btree (contact_id) where (limited_by is not null);
create index contact_changes_project on contact_changes using btree (project_id);

-- How many contacts hold a value under a key.
create table contact_field_values (
  project_id uuid not null,
  key_hash uuid not null,
  kind text not null,
  value text not null,
  contacts integer not null,
  constraint contact_field_values_pkey primary key (project_id, key_hash, kind, value),
  constraint contact_field_values_project_id_key_hash_fkey foreign key (project_id, key_hash) references contact_fields(project_id, key_hash) on delete cascade,
  constraint contact_field_values_kind_check check ((kind = any (array['boolean'::text, 'number'::text, 'string'::text])))
) with (fillfactor=70);

-- How many contacts hold which kind of value under a key. Keys may be longer than an index entry, hence the hash.
create table contact_fields (
  project_id uuid not null,
  key_hash uuid not null,
  key text not null,
  booleans integer default 0 not null,
  numbers integer default 0 not null,
  dates integer default 0 not null,
  texts integer default 0 not null,
  nulls integer default 0 not null,
  open_ended boolean default false not null,
  constraint contact_fields_pkey primary key (project_id, key_hash),
  constraint contact_fields_project_id_fkey foreign key (project_id) references projects(id) on delete cascade
) with (fillfactor=70);

-- A change of a contact: of its data the keys that changed, all of them when it was created (`before` is null then), and none when
-- it was `moved` into the trash or out of it. `limited_by` is as in `contact_changes`.
create table contact_history (
  contact_id uuid not null,
  at timestamp(6) with time zone not null,
  project_id uuid not null,
  cause jsonb not null,
  before jsonb,
  after jsonb not null,
  subscribed_before boolean,
  subscribed_after boolean not null,
  email_before text,
  email_after text,
  moved text,
  limited_by uuid,
  constraint contact_history_moved_check check ((moved = any (array['deleted'::text, 'restored'::text])))
) with (autovacuum_vacuum_scale_factor=0.05, autovacuum_vacuum_insert_scale_factor=0.05);
create index contact_history_contact on contact_history using btree (contact_id, at);
create index contact_history_job on contact_history using btree (hashtextextended((cause ->> 'id'::text), (0)::bigint), contact_id) where ((cause ->> 'type'::text) = any (array['import'::text, 'bulk'::text, 'undo'::text]));
create index contact_history_project on contact_history using btree (project_id, at);

-- When contacts of a project were deleted: a row for each statement, without a key, so that two deletions never wait for each other.
create table contact_losses (
  project_id uuid not null,
  at timestamp(3) with time zone default now() not null,
  constraint contact_losses_project_id_fkey foreign key (project_id) references projects(id) on delete cascade
);
create index contact_losses_project on contact_losses using btree (project_id, at);

-- How many contacts a project has.
create table contact_totals (
  project_id uuid not null,
  contacts integer not null,
  subscribed integer not null,
  constraint contact_totals_pkey primary key (project_id),
  constraint contact_totals_project_id_fkey foreign key (project_id) references projects(id) on delete cascade
) with (fillfactor=50);

-- A filter, a sort and columns of the list of contacts, under a name that everybody in the project sees.
create table contact_views (
  id uuid not null,
  project_id uuid not null,
  name text not null,
  filter jsonb default '{}'::jsonb not null,
  sort text default 'createdAt'::text not null,
  dir text default 'desc'::text not null,
  columns jsonb,
  created_at timestamp(3) with time zone default now() not null,
  updated_at timestamp(3) with time zone default now() not null,
  constraint contact_views_pkey primary key (id),
  constraint contact_views_name unique (project_id, name),
  constraint contact_views_project_id_fkey foreign key (project_id) references projects(id) on delete cascade
);

-- A recipient.
create table contacts (
  id uuid not null,
  project_id uuid not null,
  email text not null,
  subscribed boolean not null,
  data jsonb default '{}'::jsonb not null,
  created_at timestamp(3) with time zone default now() not null,
  updated_at timestamp(3) with time zone default now() not null,
  constraint contacts_pkey primary key (id),
  constraint contacts_project_id_email_key unique (project_id, email),
  constraint contacts_project_id_fkey foreign key (project_id) references projects(id) on delete cascade
) with (autovacuum_vacuum_scale_factor=0.05, autovacuum_vacuum_insert_scale_factor=0.05, autovacuum_analyze_scale_factor=0.02);
create index contacts_created on contacts using btree (project_id, created_at, id);
create index contacts_data on contacts using gin (project_id, data jsonb_path_ops);
create index contacts_email_trigrams on contacts using gin (project_id, email gin_trgm_ops);
create index contacts_project on contacts using btree (project_id, id);
create index contacts_unsubscribed on contacts using btree (project_id, created_at, id) where (not subscribed);
create index contacts_updated on contacts using btree (project_id, updated_at);
create trigger contacts_forgotten after delete on contacts referencing old table as gone for each statement execute function forget_contacts();

-- A contact that was deleted, by a job where that is set, for a week; its mail, its events and its history keep its ID until then.
create table contacts_trash (
  id uuid not null,
  project_id uuid not null,
  job_id text,
  deleted_at timestamp(3) with time zone default now() not null,
  email text not null,
  subscribed boolean not null,
  data jsonb not null,
  created_at timestamp(3) with time zone not null,
  memberships jsonb default '[]'::jsonb not null,
  constraint contacts_trash_pkey primary key (id)
);
create index contacts_trash_deleted on contacts_trash using btree (deleted_at);
create index contacts_trash_email on contacts_trash using btree (project_id, email);
create index contacts_trash_job on contacts_trash using btree (job_id, id);

-- What a save made of a template or of a campaign that is not sent yet.
create table content_versions (
  project_id uuid not null,
  item_id uuid not null,
  version integer not null,
  author_kind text,
  author_id text,
  restored_from integer,
  content jsonb not null,
  created_at timestamp(3) with time zone default now() not null,
  constraint content_versions_pkey primary key (project_id, item_id, version),
  constraint content_versions_project_id_fkey foreign key (project_id) references projects(id) on delete cascade,
  constraint content_versions_author_kind_check check ((author_kind = any (array['user'::text, 'key'::text, 'mcp'::text, 'system'::text])))
);

-- Emails that a project with a daily limit was allowed to send on a day.
create table daily_usage (
  project_id uuid not null,
  day date not null,
  accepted integer not null,
  constraint daily_usage_pkey primary key (project_id, day),
  constraint daily_usage_project_id_fkey foreign key (project_id) references projects(id) on delete cascade
);
create index daily_usage_day on daily_usage using btree (day);

-- A text of a function in `migrations/functions` that was installed, the newest being the current one.
create table database_functions (
  name text not null,
  hash text not null,
  installed_at timestamp with time zone default clock_timestamp() not null,
  constraint database_functions_pkey primary key (name, hash)
);

-- A domain that the provider must forget.
create table domain_removals (
  provider_id text not null,
  domain text not null,
  due_at timestamp(3) with time zone default now() not null,
  created_at timestamp(3) with time zone default now() not null,
  constraint domain_removals_pkey primary key (provider_id)
);
create index domain_removals_due on domain_removals using btree (due_at);

-- A domain from which a project sends, once it is verified.
create table domains (
  id uuid not null,
  project_id uuid not null,
  domain text not null,
  verified boolean default false not null,
  status text default 'Pending'::text not null,
  dkim_tokens jsonb default '[]'::jsonb not null,
  records jsonb default '[]'::jsonb not null,
  provider_id text,
  checked_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone default now() not null,
  updated_at timestamp(3) with time zone default now() not null,
  dkim_key_sealed text,
  verified_at timestamp(3) with time zone,
  misses smallint default 0 not null,
  pending_since timestamp(3) with time zone default now() not null,
  due_at timestamp(3) with time zone default now() not null,
  verified_told_at timestamp(3) with time zone,
  failed_told_at timestamp(3) with time zone,
  approved boolean default true not null,
  constraint domains_pkey primary key (id),
  constraint domains_domain_key unique (domain),
  constraint domains_project_id_fkey foreign key (project_id) references projects(id) on delete cascade,
  constraint domains_status_check check ((status = any (array['NotStarted'::text, 'Pending'::text, 'Success'::text, 'Failed'::text, 'TemporaryFailure'::text])))
);
create index domains_due on domains using btree (due_at, id);
create index domains_project on domains using btree (project_id, created_at desc);
create trigger domains_announce after insert or delete or update on domains for each row execute function announce_change();

-- One contact of a reviewed audience: the hash of what they would get, or why they would get nothing. Without a foreign key to the
-- dry run, whose checks cost more than the row.
create table dry_run_rows (
  dry_run_id uuid not null,
  contact_id uuid not null,
  body_hash bytea,
  bytes integer,
  left_out text,
  constraint dry_run_rows_pkey primary key (dry_run_id, contact_id)
);

-- A review of a campaign: what sending it would hand over. `through` moves in the transaction that counts what it passed.
create table dry_runs (
  id uuid not null,
  project_id uuid not null,
  campaign_id uuid not null,
  n integer not null,
  state text default 'RUNNING'::text not null,
  failed_reason text,
  facts jsonb not null,
  expected integer not null,
  through uuid,
  audience integer default 0 not null,
  would_send integer default 0 not null,
  render_ms double precision default 0 not null,
  chain bytea default '\x'::bytea not null,
  findings jsonb default '{}'::jsonb not null,
  fingerprint text,
  finished_at timestamp(3) with time zone,
  expires_at timestamp(3) with time zone not null,
  asked jsonb,
  asked_at timestamp(3) with time zone,
  approved_by uuid,
  approved_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone default now() not null,
  updated_at timestamp(3) with time zone default now() not null,
  sample integer,
  rendered integer default 0 not null,
  constraint dry_runs_pkey primary key (id),
  constraint dry_runs_campaign unique (campaign_id, n),
  constraint dry_runs_approved_by_fkey foreign key (approved_by) references users(id) on delete set null,
  constraint dry_runs_project_id_fkey foreign key (project_id) references projects(id) on delete cascade,
  constraint dry_runs_sample check ((sample > 0)),
  constraint dry_runs_state_check check ((state = any (array['RUNNING'::text, 'DONE'::text, 'FAILED'::text])))
);
create index dry_runs_expiry on dry_runs using btree (expires_at);
create index dry_runs_project on dry_runs using btree (project_id);
create index dry_runs_running on dry_runs using btree (updated_at) where (state = 'RUNNING'::text);
create trigger dry_runs_forgotten after delete on dry_runs referencing old table as gone for each statement execute function forget_dry_runs();

-- Mail that belongs to no campaign and waits for the provider; the row goes once it is settled.
create table email_queue (
  email_id uuid not null,
  project_id uuid not null,
  claim_id text,
  claimed_at timestamp(3) with time zone,
  lookups integer default 0 not null,
  attempts integer default 0 not null,
  due_at timestamp(3) with time zone default now() not null,
  created_at timestamp(3) with time zone default now() not null,
  bytes integer default 0 not null,
  last_refusal text,
  constraint email_queue_pkey primary key (email_id),
  constraint email_queue_email_id_fkey foreign key (email_id) references emails(id) on delete cascade
) with (fillfactor=60, autovacuum_vacuum_scale_factor=0.02);
create index email_queue_claims on email_queue using btree (claim_id) where (claim_id is not null);
create index email_queue_due on email_queue using btree (project_id, due_at, email_id) where (claim_id is null);

-- A mail that repeats one that failed.
create table email_resends (
  email_id uuid not null,
  resend_of uuid not null,
  project_id uuid not null,
  constraint email_resends_pkey primary key (email_id),
  constraint email_resends_email_id_fkey foreign key (email_id) references emails(id) on delete cascade
);
create index email_resends_first on email_resends using btree (resend_of);

-- A tag of a mail that was sent with some.
create table email_tags (
  email_id uuid not null,
  name text not null,
  value text not null,
  project_id uuid not null,
  constraint email_tags_pkey primary key (email_id, name),
  constraint email_tags_email_id_fkey foreign key (email_id) references emails(id) on delete cascade
);
create index email_tags_value on email_tags using btree (project_id, name, value, email_id);

-- A message in the ledger. Its contact is no foreign key: freezing an audience would lock the contacts. The indexes `emails_list_*`
-- find a status by what it leaves behind: one that named the status would make each change of it write all indexes.
-- What the indexes are for: `emails_project` the list of mail, by source or not, and the latest mail of a project; `emails_list_*` the same list by
-- status; `emails_opened`, `_clicked`, `_bounced` and `_complained` the activity feed and conditions of segments; `emails_suppressed` the list of
-- suppressed mail and its counts; `emails_contact` what one contact got; `emails_campaign` the recipients of a send, each once; `emails_step` the mail of a
-- step, sent once; `emails_template` the mail of a template. `sent_at` and `delivered_at` are in none, so that settling stays within its page.
-- `limited_by` is the key whose limits hold for what the mail starts.
create table emails (
  id uuid not null,
  project_id uuid not null,
  contact_id uuid not null,
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
  source_type text not null,
  message_class text not null,
  template_id uuid,
  campaign_id uuid,
  send_seq integer,
  workflow_execution_id uuid,
  workflow_step_execution_id uuid,
  status text default 'PENDING'::text not null,
  message_id text,
  provider text,
  stream text,
  tracking boolean,
  simulated boolean default false not null,
  suppression jsonb,
  opens integer default 0 not null,
  clicks integer default 0 not null,
  sent_at timestamp(3) with time zone,
  delivered_at timestamp(3) with time zone,
  opened_at timestamp(3) with time zone,
  clicked_at timestamp(3) with time zone,
  bounced_at timestamp(3) with time zone,
  complained_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone default now() not null,
  updated_at timestamp(3) with time zone default now() not null,
  reason jsonb,
  scheduled_for timestamp(3) with time zone,
  held_until timestamp(3) with time zone,
  content_version integer,
  limited_by uuid,
  traceparent text,
  constraint emails_pkey primary key (id),
  constraint emails_message_class_check check ((message_class = any (array['TRANSACTIONAL'::text, 'MARKETING'::text, 'HEADLESS'::text]))),
  constraint emails_source_type_check check ((source_type = any (array['TRANSACTIONAL'::text, 'CAMPAIGN'::text, 'WORKFLOW'::text, 'INBOUND'::text]))),
  constraint emails_status_check check ((status = any (array['PENDING'::text, 'SENDING'::text, 'SENT'::text, 'DELIVERED'::text, 'RECEIVED'::text, 'OPENED'::text, 'CLICKED'::text, 'BOUNCED'::text, 'COMPLAINED'::text, 'FAILED'::text, 'SUPPRESSED'::text, 'CANCELLED'::text])))
) with (fillfactor=38, autovacuum_vacuum_scale_factor=0.05, autovacuum_vacuum_insert_scale_factor=0.05);
create index emails_bounced on emails using btree (project_id, bounced_at, contact_id) where (bounced_at is not null);
create unique index emails_campaign on emails using btree (campaign_id, send_seq, contact_id) where (campaign_id is not null);
create index emails_clicked on emails using btree (project_id, clicked_at, contact_id) where (clicked_at is not null);
create index emails_complained on emails using btree (project_id, complained_at, contact_id) where (complained_at is not null);
create index emails_contact on emails using btree (contact_id, id);
create index emails_list_bounced on emails using btree (project_id, id) where (bounced_at is not null);
create index emails_list_cancelled on emails using btree (project_id, id) where (reason = '{"code": "cancelled"}'::jsonb);
create index emails_list_clicked on emails using btree (project_id, id) where (clicked_at is not null);
create index emails_list_complained on emails using btree (project_id, id) where (complained_at is not null);
create index emails_list_failed on emails using btree (project_id, id) where ((reason is not null) and (bounced_at is null));
create index emails_list_opened on emails using btree (project_id, id) where (opened_at is not null);
create index emails_list_suppressed on emails using btree (project_id, id) where (suppression is not null);
create index emails_opened on emails using btree (project_id, opened_at, contact_id) where (opened_at is not null);
create index emails_project on emails using btree (project_id, source_type, id);
create unique index emails_step on emails using btree (workflow_step_execution_id) where (workflow_step_execution_id is not null);
create index emails_suppressed on emails using btree (project_id, created_at, id) where (suppression is not null);
create index emails_template on emails using btree (template_id) where (template_id is not null);
create trigger emails_uncounted after delete on emails referencing old table as went for each statement execute function uncount_deleted_mail();

-- A session that was signed out before it expired; the row goes when the session would have expired.
create table ended_sessions (
  session_hash bytea not null,
  expires_at timestamp with time zone not null,
  constraint ended_sessions_pkey primary key (session_hash)
);
create index ended_sessions_expiry on ended_sessions using btree (expires_at);

-- An address that was erased, as a keyed hash. Imports never bring it back; while it is `suppressed`, no request stores it or sends
-- to it either.
create table erased_addresses (
  project_id uuid not null,
  subject text not null,
  suppressed boolean not null,
  created_at timestamp(3) with time zone default now() not null,
  constraint erased_addresses_pkey primary key (project_id, subject),
  constraint erased_addresses_project_id_fkey foreign key (project_id) references projects(id) on delete cascade
);

-- The erasure of a contact and its progress. `addresses_sealed` holds the addresses to find, until the certificate is issued;
-- `counts` rows by step; `certificate` is the text that was signed.
create table erasures (
  id uuid not null,
  project_id uuid not null,
  contact_id uuid not null,
  subject text not null,
  reference text,
  keep_suppressed boolean not null,
  addresses_sealed text,
  phase text default 'SETTLING'::text not null,
  place integer default 0 not null,
  after uuid,
  found_in_pass integer default 0 not null,
  counts jsonb default '{}'::jsonb not null,
  ledgers jsonb default '[]'::jsonb not null,
  mentions jsonb default '[]'::jsonb not null,
  certificate text,
  signature text,
  public_key text,
  due_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone default now() not null,
  updated_at timestamp(3) with time zone default now() not null,
  erased_at timestamp(3) with time zone,
  finished_at timestamp(3) with time zone,
  constraint erasures_pkey primary key (id),
  constraint erasures_contact unique (contact_id),
  constraint erasures_project_id_fkey foreign key (project_id) references projects(id) on delete cascade,
  constraint erasures_phase_check check ((phase = any (array['SETTLING'::text, 'LEDGERS'::text, 'ROWS'::text, 'CERTIFYING'::text, 'WAITING'::text, 'DONE'::text])))
);
create index erasures_open on erasures using btree (updated_at, id) where (finished_at is null);
create index erasures_project on erasures using btree (project_id, id);

-- How many events of a name a day (UTC) had, up to `counted_through`. Rows of the same day add up, so there is no key.
create table event_counts (
  project_id uuid not null,
  name text not null,
  day date not null,
  events integer not null,
  constraint event_counts_project_id_fkey foreign key (project_id) references projects(id) on delete cascade
) with (autovacuum_vacuum_scale_factor=0.05);
create index event_counts_day on event_counts using btree (project_id, day, name) include (events);
create index event_counts_taken_off on event_counts using btree (project_id) where (events < 0);

-- How far events are counted, in one row. `copied_before` is set while what stays of old parts of events is copied: it ends there.
create table event_counts_state (
  counted_through timestamp(3) with time zone not null,
  copied_before uuid
);

-- Something that happened to a contact or to a project. `mail_at` is the instant of the mail it reports, `limited_by` the key whose
-- limits hold for what the event starts. No foreign keys: their checks cost more than the row.
create table events (
  id uuid not null,
  project_id uuid not null,
  contact_id uuid,
  email_id uuid,
  name text not null,
  data jsonb,
  created_at timestamp(3) with time zone default now() not null,
  mail_at timestamp(3) with time zone,
  limited_by uuid,
  constraint events_pkey primary key (id)
) with (autovacuum_vacuum_insert_scale_factor=0.02, autovacuum_analyze_scale_factor=0.02);
create index events_contact on events using btree (contact_id, created_at);
create index events_contact_mail on events using btree (contact_id, name, mail_at) where ((name <> 'email.sent'::text) and (mail_at is not null));
create index events_created on events using brin (created_at) with (pages_per_range='32', autosummarize='true');
create index events_limited on events using btree (contact_id) where (limited_by is not null);
create index events_mail on events using btree (project_id, name, mail_at) where ((name <> 'email.sent'::text) and (mail_at is not null));
create index events_name on events using btree (project_id, name, created_at, contact_id);
create index events_recent on events using btree (project_id, created_at, id);
create index events_sent on events using btree (project_id, mail_at) where ((name = 'email.sent'::text) and (mail_at is not null));
create trigger events_deleted after delete on events referencing old table as went for each statement execute function uncount_deleted_events();

-- An event that was changed or deleted since it may have been copied out of a part that is to be dropped. Empty where events are not divided.
create table events_touched (
  id uuid not null
);

-- Failed mail that keeps its attachments, with the bytes of its content.
create table failed_attachments (
  email_id uuid not null,
  project_id uuid not null,
  bytes integer not null,
  constraint failed_attachments_pkey primary key (email_id),
  constraint failed_attachments_email_id_fkey foreign key (email_id) references emails(id) on delete cascade
);
create index failed_attachments_project on failed_attachments using btree (project_id);

-- A project whose catalogue of contact fields takes no more keys.
create table full_catalogues (
  project_id uuid not null,
  constraint full_catalogues_pkey primary key (project_id),
  constraint full_catalogues_project_id_fkey foreign key (project_id) references projects(id) on delete cascade
);

-- A request that was made with an `Idempotency-Key`, and its answer.
create table idempotency_keys (
  id uuid not null,
  project_id uuid not null,
  key text collate "C" not null,
  method text not null,
  path text not null,
  status_code integer,
  created_at timestamp(3) with time zone default now() not null,
  expires_at timestamp(3) with time zone not null,
  email_ids uuid[],
  request_hash text,
  answer text,
  constraint idempotency_keys_pkey primary key (id),
  constraint idempotency_keys_project_id_key_key unique (project_id, key),
  constraint idempotency_keys_project_id_fkey foreign key (project_id) references projects(id) on delete cascade
);
create index idempotency_keys_expiry on idempotency_keys using btree (expires_at);

-- A part of an uploaded file. Parts are written before their job, so only the id ties them to it.
create table import_files (
  job_id text not null,
  part integer not null,
  bytes bytea storage external not null,
  created_at timestamp(3) with time zone default now() not null,
  constraint import_files_pkey primary key (job_id, part)
);

-- A row of an import, or a subject of a bulk operation, that failed.
create table job_errors (
  job_id text not null,
  "row" integer not null,
  subject text,
  email text,
  error text not null,
  constraint job_errors_pkey primary key (job_id, "row"),
  constraint job_errors_job_id_fkey foreign key (job_id) references jobs(id) on delete cascade
);

-- An import or a bulk operation. `position` moves in the transaction that does the work it counts. Its changes get `cause`, and what
-- they start keeps the limits of the key `limited_by`.
create table jobs (
  id text not null,
  project_id uuid not null,
  kind text not null,
  spec jsonb not null,
  state text default 'waiting'::text not null,
  "position" bigint default 0 not null,
  place jsonb default '{}'::jsonb not null,
  progress smallint default 0 not null,
  total_count integer default 0 not null,
  created_count integer default 0 not null,
  updated_count integer default 0 not null,
  unchanged_count integer default 0 not null,
  failure_count integer default 0 not null,
  reasons jsonb default '{}'::jsonb not null,
  failed_reason text,
  created_at timestamp(3) with time zone default now() not null,
  updated_at timestamp(3) with time zone default now() not null,
  finished_at timestamp(3) with time zone,
  cause jsonb,
  limited_by uuid,
  constraint jobs_pkey primary key (id),
  constraint jobs_project_id_fkey foreign key (project_id) references projects(id) on delete cascade,
  constraint jobs_kind_check check ((kind = any (array['import'::text, 'bulk'::text, 'simulation'::text]))),
  constraint jobs_state_check check ((state = any (array['waiting'::text, 'active'::text, 'delayed'::text, 'completed'::text, 'failed'::text])))
) with (fillfactor=50);
create index jobs_finished on jobs using btree (finished_at) where (finished_at is not null);
create index jobs_list on jobs using btree (project_id, created_at, id);
create index jobs_unfinished on jobs using btree (id) where (finished_at is null);

-- Changes to fold into `mail_counts`, append-only and without a key, so that writers do not wait for each other. Both are read
-- together.
create table mail_count_changes (
  project_id uuid not null,
  hour timestamp(3) with time zone not null,
  outgoing integer default 0 not null,
  incoming integer default 0 not null,
  delivered integer default 0 not null,
  opened integer default 0 not null,
  clicked integer default 0 not null,
  bounced integer default 0 not null,
  rated integer default 0 not null,
  rated_bounced integer default 0 not null,
  rated_complained integer default 0 not null,
  runs_started integer default 0 not null,
  runs_completed integer default 0 not null
) with (autovacuum_vacuum_scale_factor=0.02);
create index mail_count_changes_project on mail_count_changes using btree (project_id);

-- Mail by the hour it was created in, and what became of it. Reputation is judged by the `rated` columns.
create table mail_counts (
  project_id uuid not null,
  hour timestamp(3) with time zone not null,
  outgoing integer default 0 not null,
  incoming integer default 0 not null,
  delivered integer default 0 not null,
  opened integer default 0 not null,
  clicked integer default 0 not null,
  bounced integer default 0 not null,
  rated integer default 0 not null,
  rated_bounced integer default 0 not null,
  rated_complained integer default 0 not null,
  runs_started integer default 0 not null,
  runs_completed integer default 0 not null,
  constraint mail_counts_pkey primary key (project_id, hour),
  constraint mail_counts_project_id_fkey foreign key (project_id) references projects(id) on delete cascade
) with (fillfactor=50, autovacuum_vacuum_scale_factor=0.05);

-- A plan of a language model; `facts` are what its sentence stands for. It is carried out once, in the transaction that stores its
-- `result`.
create table mcp_plans (
  id uuid not null,
  project_id uuid not null,
  key_id uuid not null,
  action text not null,
  operation text not null,
  input jsonb not null,
  sentence text not null,
  affects integer not null,
  samples text[] not null,
  content_hash bytea,
  again boolean not null,
  needs_approval boolean not null,
  approved_at timestamp(3) with time zone,
  approved_by uuid,
  committed_at timestamp(3) with time zone,
  result jsonb,
  expires_at timestamp(3) with time zone not null,
  created_at timestamp(3) with time zone default now() not null,
  refused_at timestamp(3) with time zone,
  refused_by uuid,
  facts jsonb,
  constraint mcp_plans_pkey primary key (id),
  constraint mcp_plans_project_id_fkey foreign key (project_id) references projects(id) on delete cascade
);
create index mcp_plans_content on mcp_plans using btree (project_id, content_hash, committed_at);
create index mcp_plans_open on mcp_plans using btree (key_id, expires_at) where ((committed_at is null) and (refused_at is null));
create index mcp_plans_project on mcp_plans using btree (project_id, created_at);

-- What a user may do in a project.
create table memberships (
  project_id uuid not null,
  user_id uuid not null,
  role text not null,
  created_at timestamp(3) with time zone default now() not null,
  constraint memberships_pkey primary key (project_id, user_id),
  constraint memberships_project_id_fkey foreign key (project_id) references projects(id) on delete cascade,
  constraint memberships_user_id_fkey foreign key (user_id) references users(id) on delete cascade,
  constraint memberships_role_check check ((role = any (array['OWNER'::text, 'ADMIN'::text, 'MEMBER'::text])))
);
create index memberships_user on memberships using btree (user_id);

-- A start, signal or schedule that Temporal must receive, written in the transaction that decided it.
create table outbox (
  id uuid not null,
  dedupe_key text not null,
  kind text not null,
  workflow_type text,
  workflow_id text not null,
  payload jsonb not null,
  attempts integer default 0 not null,
  next_attempt_at timestamp(3) with time zone default now() not null,
  last_error text,
  done_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone default now() not null,
  constraint outbox_pkey primary key (id),
  constraint outbox_dedupe_key_key unique (dedupe_key),
  constraint outbox_kind_check check ((kind = any (array['start'::text, 'signal'::text, 'cancel'::text, 'schedule'::text, 'unschedule'::text])))
) with (autovacuum_vacuum_scale_factor=0.02);
create index outbox_done on outbox using btree (done_at) where (done_at is not null);
create index outbox_open_others on outbox using btree (next_attempt_at, id) where ((done_at is null) and ((kind <> all (array['signal'::text, 'cancel'::text])) or (workflow_id !~~ 'automation/%'::text)));
create index outbox_open_wakes on outbox using btree (substr(workflow_id, 12, 36) collate "C", next_attempt_at, id) where ((done_at is null) and (kind = any (array['signal'::text, 'cancel'::text])) and (workflow_id ~~ 'automation/%'::text));
create index outbox_open_workflow on outbox using btree (workflow_id, id) where (done_at is null);

-- An address that may join a project by the link in a mail. The row is deleted when they join.
create table project_invitations (
  id uuid not null,
  project_id uuid not null,
  email text not null,
  role text not null,
  token_hash bytea not null,
  invited_by uuid,
  created_at timestamp(3) with time zone default now() not null,
  expires_at timestamp(3) with time zone not null,
  constraint project_invitations_pkey primary key (id),
  constraint project_invitations_address unique (project_id, email),
  constraint project_invitations_token_hash_key unique (token_hash),
  constraint project_invitations_invited_by_fkey foreign key (invited_by) references users(id) on delete set null,
  constraint project_invitations_project_id_fkey foreign key (project_id) references projects(id) on delete cascade,
  constraint project_invitations_role_check check ((role = any (array['ADMIN'::text, 'MEMBER'::text])))
);
create index project_invitations_inviter on project_invitations using btree (invited_by);

-- The removal of a project, or of everything in it, and its progress: `place` in the list of tables, and `after`, the last ID that
-- is gone there. `pass` counts how often the list was begun; `subscription` is the payment subscription to cancel.
create table project_wipes (
  id uuid not null,
  project_id uuid not null,
  kind text not null,
  place integer default 0 not null,
  after uuid,
  pass integer default 1 not null,
  removed_in_pass bigint default 0 not null,
  removed bigint default 0 not null,
  subscription text,
  finished_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone default now() not null,
  updated_at timestamp(3) with time zone default now() not null,
  constraint project_wipes_pkey primary key (id),
  constraint project_wipes_kind_check check ((kind = any (array['RESET'::text, 'DELETE'::text])))
);
create index project_wipes_age on project_wipes using btree (finished_at) where (finished_at is not null);
create unique index project_wipes_open on project_wipes using btree (project_id) where (finished_at is null);

-- A tenant: everything else belongs to one. Its keys are found by their hash and stored encrypted.
create table projects (
  id uuid not null,
  name text not null,
  public_key_hash bytea not null,
  secret_key_hash bytea not null,
  public_key_sealed text not null,
  secret_key_sealed text not null,
  disabled boolean default false not null,
  disabled_reason text,
  customer text,
  subscription text,
  billing_limit_workflows integer,
  billing_limit_campaigns integer,
  billing_limit_transactional integer,
  billing_limit_inbound integer,
  tracking text default 'ENABLED'::text not null,
  language text default 'en'::text not null,
  escape_contact_data boolean default true not null,
  send_rate integer,
  created_at timestamp(3) with time zone default now() not null,
  updated_at timestamp(3) with time zone default now() not null,
  resetting boolean default false not null,
  deleted_at timestamp(3) with time zone,
  hide_secret_key boolean default false not null,
  approval_above integer,
  erasure_key_sealed text,
  test_addresses text[] default '{}'::text[] not null,
  public_key_mode text default 'contract'::text not null,
  public_key_requests_per_minute integer default 600 not null,
  trusted boolean default true not null,
  time_zone text,
  email_retention_days integer,
  event_retention_days integer,
  execution_retention_days integer,
  holdout jsonb,
  quiet_hours jsonb,
  quiet_changed_at timestamp(3) with time zone,
  constraint projects_pkey primary key (id),
  constraint projects_public_key_hash_key unique (public_key_hash),
  constraint projects_secret_key_hash_key unique (secret_key_hash),
  constraint projects_approval_above_check check ((approval_above >= 0)),
  constraint projects_disabled_reason_check check ((disabled_reason = any (array['REPUTATION'::text, 'PAYMENT_FAILED'::text, 'CONTENT'::text, 'MANUAL'::text]))),
  constraint projects_public_key_mode_check check ((public_key_mode = any (array['contract'::text, 'hardened'::text]))),
  constraint projects_public_key_requests_check check ((public_key_requests_per_minute > 0)),
  constraint projects_send_rate_check check ((send_rate > 0)),
  constraint projects_tracking_check check ((tracking = any (array['ENABLED'::text, 'DISABLED'::text, 'MARKETING_ONLY'::text])))
);
create unique index projects_customer on projects using btree (customer) where (customer is not null);
create index projects_quiet_changed on projects using btree (quiet_changed_at) where (quiet_changed_at is not null);
create trigger projects_announce after insert or delete or update on projects for each row execute function announce_change();
create trigger projects_forgotten after delete on projects referencing old table as gone for each statement execute function forget_projects();

-- A message on its way to a provider that cannot be searched: a row before the first byte, the message id once the provider took it.
create table provider_handovers (
  claim_id text not null,
  email_id uuid not null,
  message_id text,
  taken_at timestamp(3) with time zone,
  begun_at timestamp(3) with time zone default now() not null,
  constraint provider_handovers_pkey primary key (claim_id, email_id)
) with (fillfactor=70, autovacuum_vacuum_scale_factor=0.05);
create index provider_handovers_age on provider_handovers using btree (begun_at);

-- The circuit breaker of a provider: while `held_until` lies ahead, nobody calls it.
create table provider_holds (
  provider text not null,
  failures integer default 0 not null,
  reason text,
  held_since timestamp(3) with time zone,
  held_until timestamp(3) with time zone,
  constraint provider_holds_pkey primary key (provider)
);

-- Requests of a project in the current window of its rate limit, and those of its public key where that has a window of its own.
create table rate_windows (
  project_id uuid not null,
  started_at timestamp with time zone,
  used integer default 0 not null,
  public_started_at timestamp with time zone,
  public_used integer default 0 not null,
  constraint rate_windows_pkey primary key (project_id),
  constraint rate_windows_project_id_fkey foreign key (project_id) references projects(id) on delete cascade
) with (fillfactor=50);

-- Requests of a visitor of the recipient pages in the current window. The table is unlogged: losing it in a crash resets a limit.
create unlogged table recipient_visits (
  visitor text not null,
  started_at timestamp(3) with time zone not null,
  used integer not null,
  constraint recipient_visits_pkey primary key (visitor)
) with (fillfactor=70);
create index recipient_visits_started on recipient_visits using btree (started_at);

-- Mail that the provider accepted after an instant to which the database was set back, and mail that may have been. FOUND is in the ledger and
-- becomes SETTLED as sent. LOST has no row any more; MATCHED has a new one. UNKNOWN is kept from being sent until an operator decides: RELEASED
-- or GIVEN_UP.
create table restored_mail (
  restored_to timestamp(3) with time zone not null,
  email_id uuid not null,
  project_id uuid not null,
  contact_id uuid,
  campaign_id uuid,
  source text not null,
  message_id text,
  accepted_at timestamp(3) with time zone,
  outcome text not null,
  constraint restored_mail_pkey primary key (restored_to, email_id),
  constraint restored_mail_restored_to_fkey foreign key (restored_to) references restores(restored_to) on delete cascade,
  constraint restored_mail_outcome_check check ((outcome = any (array['FOUND'::text, 'SETTLED'::text, 'LOST'::text, 'MATCHED'::text, 'UNKNOWN'::text, 'RELEASED'::text, 'GIVEN_UP'::text])))
);
create index restored_mail_open on restored_mail using btree (outcome) where (outcome = any (array['FOUND'::text, 'UNKNOWN'::text]));

-- An instant to which the database was set back. All mail of the provider is held until `phase` is FINISHED. `position` is where its search
-- goes on; `campaigns` were being sent, or were due, when the hold began.
create table restores (
  restored_to timestamp(3) with time zone not null,
  provider text not null,
  phase text default 'SEARCHING'::text not null,
  held_at timestamp(3) with time zone default clock_timestamp() not null,
  finished_at timestamp(3) with time zone,
  searched boolean default true not null,
  "position" text,
  campaigns uuid[] not null,
  constraint restores_pkey primary key (restored_to),
  constraint restores_phase_check check ((phase = any (array['SEARCHING'::text, 'MATCHING'::text, 'SETTLING'::text, 'FINISHED'::text])))
);

-- How far a retention rule has walked a table, in the order of its ids.
create table retention_cursors (
  rule text not null,
  through uuid not null,
  constraint retention_cursors_pkey primary key (rule)
);

-- Blocks that are copied into emails: a mail keeps its own copy when they change.
create table saved_blocks (
  id uuid not null,
  project_id uuid not null,
  name text not null,
  content jsonb not null,
  created_at timestamp(3) with time zone default now() not null,
  updated_at timestamp(3) with time zone default now() not null,
  constraint saved_blocks_pkey primary key (id),
  constraint saved_blocks_name unique (project_id, name),
  constraint saved_blocks_project_id_fkey foreign key (project_id) references projects(id) on delete cascade
);

-- When a contact entered and left a segment.
create table segment_memberships (
  segment_id uuid not null,
  contact_id uuid not null,
  entered_at timestamp(3) with time zone default now() not null,
  exited_at timestamp(3) with time zone,
  constraint segment_memberships_pkey primary key (segment_id, contact_id),
  constraint segment_memberships_contact_id_fkey foreign key (contact_id) references contacts(id) on delete cascade,
  constraint segment_memberships_segment_id_fkey foreign key (segment_id) references segments(id) on delete cascade
) with (autovacuum_vacuum_scale_factor=0.05);
create index segment_memberships_contact on segment_memberships using btree (contact_id);
create index segment_memberships_left on segment_memberships using btree (segment_id, exited_at) where (exited_at is not null);
create index segment_memberships_now on segment_memberships using btree (segment_id, entered_at, contact_id) where (exited_at is null);

-- A part of a project's audience: contacts that a condition finds, or that requests added. The columns from `watched_events` on
-- belong to its evaluation: what it depends on, and how far it is settled.
create table segments (
  id uuid not null,
  project_id uuid not null,
  name text not null,
  description text,
  type text not null,
  condition jsonb,
  track_membership boolean default false not null,
  member_count integer default 0 not null,
  watched_events text[] default '{}'::text[] not null,
  watched_segments uuid[] default '{}'::uuid[] not null,
  reads_contacts boolean default false not null,
  has_window boolean default false not null,
  settled_through timestamp(3) with time zone,
  evaluated_at timestamp(3) with time zone,
  listed_count integer,
  listed_through timestamp(3) with time zone,
  listed_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone default now() not null,
  updated_at timestamp(3) with time zone default now() not null,
  revision integer default 1 not null,
  constraint segments_pkey primary key (id),
  constraint segments_project_id_fkey foreign key (project_id) references projects(id) on delete cascade,
  constraint segments_check check (((type = 'DYNAMIC'::text) = (condition is not null))),
  constraint segments_type_check check ((type = any (array['DYNAMIC'::text, 'STATIC'::text])))
) with (fillfactor=70);
create index segments_project on segments using btree (project_id, created_at desc, id desc);
create index segments_tracked on segments using btree (project_id) where (track_membership and (type = 'DYNAMIC'::text));

-- A token bucket of a project, or of the provider account (the nil UUID).
create table send_buckets (
  id uuid not null,
  tokens double precision not null,
  refilled_at timestamp with time zone default clock_timestamp() not null,
  constraint send_buckets_pkey primary key (id)
) with (fillfactor=50);

-- A contact of a simulation, or an execution that it is compared with, in the order in which they are simulated; `outcome` is null until its turn. `tags`
-- are what lists filter by.
create table simulated_contacts (
  job_id text not null,
  n integer not null,
  contact_id uuid not null,
  run_id uuid,
  tags text[] default '{}'::text[] not null,
  outcome jsonb,
  constraint simulated_contacts_pkey primary key (job_id, n),
  constraint simulated_contacts_job_id_fkey foreign key (job_id) references jobs(id) on delete cascade
);

-- A program that sends by SMTP: a credential at an address. `credential` is `secret` for the secret key, the ID of a key with
-- scopes, or `unknown` for a sign-in as the project with an invalid key. `refusal` is the last reply that refused, without addresses
-- of mail.
create table smtp_clients (
  project_id uuid not null,
  credential text not null,
  ip text not null,
  last_at timestamp(3) with time zone default now() not null,
  accepted_at timestamp(3) with time zone,
  refused_at timestamp(3) with time zone,
  refusal text,
  constraint smtp_clients_pkey primary key (project_id, credential, ip),
  constraint smtp_clients_project_id_fkey foreign key (project_id) references projects(id) on delete cascade
);

-- A pattern of addresses that a project does not write to.
create table suppression_rules (
  id uuid not null,
  project_id uuid not null,
  name text not null,
  kind text not null,
  pattern text not null,
  enabled boolean default true not null,
  created_at timestamp(3) with time zone default now() not null,
  updated_at timestamp(3) with time zone default now() not null,
  constraint suppression_rules_pkey primary key (id),
  constraint suppression_rules_project_id_fkey foreign key (project_id) references projects(id) on delete cascade,
  constraint suppression_rules_kind_check check ((kind = any (array['ADDRESS'::text, 'DOMAIN'::text, 'PREFIX'::text, 'SUFFIX'::text, 'WILDCARD'::text])))
);
create index suppression_rules_project on suppression_rules using btree (project_id, created_at, id);
create trigger suppression_rules_announce after insert or delete or update on suppression_rules for each row execute function announce_change();

-- Mail of the service itself. The content is encrypted, since a link inside may sign somebody in, and removed once the provider has
-- it.
create table system_mails (
  id uuid not null,
  kind text not null,
  to_address text not null,
  dedupe_key text,
  content_sealed text,
  status text default 'PENDING'::text not null,
  attempts integer default 0 not null,
  message_id text,
  error text,
  sent_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone default now() not null,
  updated_at timestamp(3) with time zone default now() not null,
  constraint system_mails_pkey primary key (id),
  constraint system_mails_dedupe_key_key unique (dedupe_key),
  constraint system_mails_status_check check ((status = any (array['PENDING'::text, 'SENT'::text, 'FAILED'::text])))
);
create index system_mails_age on system_mails using btree (created_at);
create index system_mails_pending on system_mails using btree (updated_at) where (status = 'PENDING'::text);

-- Content for mail, with a sender and a type that decides which mail recipients can unsubscribe from.
create table templates (
  id uuid not null,
  project_id uuid not null,
  name text not null,
  description text,
  subject text not null,
  body text not null,
  "from" text not null,
  from_name text,
  reply_to text,
  type text default 'MARKETING'::text not null,
  created_at timestamp(3) with time zone default now() not null,
  updated_at timestamp(3) with time zone default now() not null,
  revision integer default 1 not null,
  document jsonb,
  removed_mails integer default 0 not null,
  constraint templates_pkey primary key (id),
  constraint templates_project_id_fkey foreign key (project_id) references projects(id) on delete cascade,
  constraint templates_type_check check ((type = any (array['TRANSACTIONAL'::text, 'MARKETING'::text, 'HEADLESS'::text])))
);
create index templates_project on templates using btree (project_id, created_at desc, id);
create trigger templates_announce after insert or delete or update on templates for each row execute function announce_change();

-- The last execution of the reconciler by task queue prefix: a Temporal store that does not know it has lost executions. `seen_at`
-- is when it ran, which it does every minute as long as Temporal can write. Rows written before `changed_at` may belong to
-- executions that are gone or behind.
create table temporal_stores (
  task_queue text not null,
  workflow_id text not null,
  run_id text not null,
  changed_at timestamp(3) with time zone,
  seen_at timestamp(3) with time zone,
  constraint temporal_stores_pkey primary key (task_queue)
);

-- A file that templates refer to.
create table uploads (
  id uuid not null,
  project_id uuid not null,
  key text not null,
  filename text not null,
  content_type text not null,
  size integer not null,
  created_at timestamp(3) with time zone default now() not null,
  constraint uploads_pkey primary key (id),
  constraint uploads_project_id_fkey foreign key (project_id) references projects(id) on delete cascade
);
create index uploads_project on uploads using btree (project_id, id);

-- Mail of a project in a month. `settled` and `failed` count what came to an end, for every project; `reserved` counts what was
-- accepted since a limit holds, null while none does. No foreign key: mail of a project that is being deleted is still settled.
create table usage_counters (
  project_id uuid not null,
  month date not null,
  category text not null,
  settled integer default 0 not null,
  failed integer default 0 not null,
  reserved integer,
  constraint usage_counters_pkey primary key (project_id, month, category),
  constraint usage_counters_category_check check ((category = any (array['TRANSACTIONAL'::text, 'CAMPAIGN'::text, 'WORKFLOW'::text, 'INBOUND'::text, 'TOTAL'::text])))
) with (fillfactor=50);
create index usage_counters_limited on usage_counters using btree (month) where (reserved is not null);

-- A notice that a project reached a share of its limit, sent once.
create table usage_notices (
  project_id uuid not null,
  month date not null,
  category text not null,
  level smallint not null,
  created_at timestamp(3) with time zone default now() not null,
  constraint usage_notices_pkey primary key (project_id, month, category, level),
  constraint usage_notices_project_id_fkey foreign key (project_id) references projects(id) on delete cascade,
  constraint usage_notices_level_check check ((level = any (array[80, 100])))
);

-- How far the mail of a project was reported to billing, in the order of its ids.
create table usage_reports (
  project_id uuid not null,
  reported_through uuid not null,
  updated_at timestamp(3) with time zone default now() not null,
  constraint usage_reports_pkey primary key (project_id),
  constraint usage_reports_project_id_fkey foreign key (project_id) references projects(id) on delete cascade
);

-- Mail that had not come to an end when reporting passed it.
create table usage_reports_waiting (
  project_id uuid not null,
  email_id uuid not null,
  constraint usage_reports_waiting_pkey primary key (project_id, email_id),
  constraint usage_reports_waiting_project_id_fkey foreign key (project_id) references projects(id) on delete cascade
);

-- A session as its user sees it in the list of sessions. A session is valid by its signature, with or without this row.
create table user_sessions (
  id uuid not null,
  user_id uuid not null,
  session_hash bytea not null,
  session_version integer not null,
  user_agent text not null,
  ip text not null,
  created_at timestamp(3) with time zone default now() not null,
  expires_at timestamp(3) with time zone not null,
  constraint user_sessions_pkey primary key (id),
  constraint user_sessions_session_hash_key unique (session_hash),
  constraint user_sessions_user_id_fkey foreign key (user_id) references users(id) on delete cascade
);
create index user_sessions_expiry on user_sessions using btree (expires_at);
create index user_sessions_user on user_sessions using btree (user_id, created_at);

-- A person who signs in.
create table users (
  id uuid not null,
  email text not null,
  password_hash text,
  type text default 'PASSWORD'::text not null,
  email_verified boolean default false not null,
  session_version integer default 0 not null,
  created_at timestamp(3) with time zone default now() not null,
  updated_at timestamp(3) with time zone default now() not null,
  self_registered boolean default false not null,
  constraint users_pkey primary key (id),
  constraint users_email_key unique (email),
  constraint users_type_check check ((type = any (array['PASSWORD'::text, 'GOOGLE_OAUTH'::text, 'GITHUB_OAUTH'::text])))
);

-- One call of an endpoint, with the first 4 KB of what it answered.
create table webhook_attempts (
  id uuid not null,
  delivery_id uuid not null,
  at timestamp(3) with time zone not null,
  status_code integer,
  ms integer not null,
  answer text,
  error text,
  constraint webhook_attempts_pkey primary key (id),
  constraint webhook_attempts_delivery_id_fkey foreign key (delivery_id) references webhook_deliveries(id) on delete cascade
) with (autovacuum_vacuum_scale_factor=0.05);
create index webhook_attempts_delivery on webhook_attempts using btree (delivery_id, at);

-- One event for one endpoint. Sequences of an endpoint have no gaps.
create table webhook_deliveries (
  id uuid not null,
  endpoint_id uuid not null,
  sequence bigint not null,
  event_id uuid not null,
  event_name text not null,
  event_at timestamp(3) with time zone not null,
  status text default 'PENDING'::text not null,
  attempts integer default 0 not null,
  due_at timestamp(3) with time zone default now() not null,
  created_at timestamp(3) with time zone default now() not null,
  constraint webhook_deliveries_pkey primary key (id),
  constraint webhook_deliveries_event unique (endpoint_id, event_id),
  constraint webhook_deliveries_sequence unique (endpoint_id, sequence),
  constraint webhook_deliveries_endpoint_id_fkey foreign key (endpoint_id) references webhook_endpoints(id) on delete cascade,
  constraint webhook_deliveries_status_check check ((status = any (array['PENDING'::text, 'DELIVERED'::text, 'FAILED'::text])))
) with (autovacuum_vacuum_scale_factor=0.05);
create index webhook_deliveries_created on webhook_deliveries using brin (created_at);
create index webhook_deliveries_due on webhook_deliveries using btree (endpoint_id, due_at, sequence) where (status = 'PENDING'::text);
create index webhook_deliveries_failed on webhook_deliveries using btree (endpoint_id, sequence) where (status = 'FAILED'::text);
create index webhook_deliveries_span on webhook_deliveries using btree (endpoint_id, event_at);

-- An address that is called with the events of a project. `cursor_at` and `cursor_id` name the last event that was queued for it.
create table webhook_endpoints (
  id uuid not null,
  project_id uuid not null,
  url text not null,
  description text,
  events text[] not null,
  payload text default 'full'::text not null,
  ordered boolean default false not null,
  status text default 'ENABLED'::text not null,
  disabled_reason text,
  secret_sealed text not null,
  old_secret_sealed text,
  old_secret_until timestamp(3) with time zone,
  cursor_at timestamp with time zone not null,
  cursor_id uuid not null,
  sequence bigint default 0 not null,
  counted_from timestamp(3) with time zone not null,
  failing_since timestamp(3) with time zone,
  resting_until timestamp(3) with time zone,
  created_at timestamp(3) with time zone default now() not null,
  updated_at timestamp(3) with time zone default now() not null,
  missing integer default 0 not null,
  audited_at timestamp(3) with time zone,
  constraint webhook_endpoints_pkey primary key (id),
  constraint webhook_endpoints_project_id_fkey foreign key (project_id) references projects(id) on delete cascade,
  constraint webhook_endpoints_payload_check check ((payload = any (array['full'::text, 'thin'::text]))),
  constraint webhook_endpoints_status_check check ((status = any (array['ENABLED'::text, 'PAUSED'::text, 'DISABLED'::text])))
);
create index webhook_endpoints_project on webhook_endpoints using btree (project_id, created_at);

-- A webhook that was handled, so that a repeated delivery changes nothing.
create table webhook_receipts (
  source text not null,
  key text not null,
  created_at timestamp(3) with time zone default now() not null,
  constraint webhook_receipts_pkey primary key (source, key)
);
create index webhook_receipts_age on webhook_receipts using btree (created_at);

-- A span of events that is delivered again; `place` is the last one that was queued.
create table webhook_replays (
  id uuid not null,
  endpoint_id uuid not null,
  since timestamp(3) with time zone not null,
  until timestamp(3) with time zone not null,
  events text[] not null,
  only text not null,
  status text default 'RUNNING'::text not null,
  place_at timestamp(3) with time zone not null,
  place_id uuid not null,
  requeued integer default 0 not null,
  created_at timestamp(3) with time zone default now() not null,
  updated_at timestamp(3) with time zone default now() not null,
  constraint webhook_replays_pkey primary key (id),
  constraint webhook_replays_endpoint_id_fkey foreign key (endpoint_id) references webhook_endpoints(id) on delete cascade,
  constraint webhook_replays_only_check check (("only" = any (array['failed'::text, 'all'::text]))),
  constraint webhook_replays_status_check check ((status = any (array['RUNNING'::text, 'DONE'::text])))
);
create index webhook_replays_endpoint on webhook_replays using btree (endpoint_id, created_at);
create unique index webhook_replays_running on webhook_replays using btree (endpoint_id) where (status = 'RUNNING'::text);

CREATE OR REPLACE FUNCTION announce_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  changed record := coalesce(new, old);
begin
  if tg_op = 'UPDATE' then
    if tg_table_name = 'api_keys' then
      if old.last_used_at is distinct from new.last_used_at then
        return null;
      end if;
    elsif tg_table_name = 'domains' then
      if (old.verified, old.domain, old.project_id) is not distinct from (new.verified, new.domain, new.project_id) then
        return null;
      end if;
    end if;
  end if;
  perform pg_notify('fernpost_changes', tg_table_name || ':' ||
    case when tg_table_name = 'projects' then changed.id::text else (to_jsonb(changed) ->> 'project_id') end);
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION catalogue_is_full(project uuid)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  return exists (select from full_catalogues where project_id = project);
end
$function$;

CREATE OR REPLACE FUNCTION contact_after(email text, subscribed boolean, data jsonb, given jsonb)
 RETURNS TABLE(email text, subscribed boolean, data jsonb)
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  -- What becomes of a contact by a row of `write_contacts`: its address, its subscription and its data. `consent` is data for contacts whom
  -- the row subscribes. A query on this function becomes a part of the statement that asks it, so that it costs no call.
  select coalesce($4 ->> 'newEmail', $1), coalesce(($4 ->> 'subscribed')::boolean, $2),
    (case when $4 ? 'clear' then '{}' else $3 end || coalesce($4 -> 'set', '{}')
      || case when $4 ? 'consent' and ($4 ->> 'subscribed')::boolean and not $2 then $4 -> 'consent' else '{}' end)
    - case when $4 ? 'remove' then array(select jsonb_array_elements_text($4 -> 'remove')) else '{}' end
  offset 0
$function$;

CREATE OR REPLACE FUNCTION contact_data_fits(project uuid, before jsonb, after jsonb)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE
AS $function$
declare
  problem text := contact_data_problem(project, before, after);
begin
  if problem is not null then
    raise exception 'the data of a contact exceeds a limit' using errcode = 'check_violation', constraint = problem;
  end if;
  return true;
end
$function$;

CREATE OR REPLACE FUNCTION contact_data_problem(project uuid, before jsonb, after jsonb)
 RETURNS text
 LANGUAGE plpgsql
 STABLE
AS $function$
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
end
$function$;

CREATE OR REPLACE FUNCTION contact_value_kind(value jsonb)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
select case jsonb_typeof(value)
  when 'string' then case when value #>> '{}' like '____-__-__%'
    and value #>> '{}' ~ '^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d{3})?Z?)?$' then 'date' else 'string' end
  when 'object' then 'json' when 'array' then 'json'
  else jsonb_typeof(value) end
$function$;

CREATE OR REPLACE FUNCTION forget_contacts()
 RETURNS trigger
 LANGUAGE plpgsql
 SET jit TO 'off'
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
AS $function$
declare
  trashed uuid[] := array(select g.id from gone g where exists (select from contacts_trash t where t.id = g.id));
  lost uuid[] := array(select g.id from gone g where not exists (select from contacts_trash t where t.id = g.id));
  active uuid[];
begin
  -- The catalogue and the totals count without them; the fold removes the history of those that have an ID here. Contacts also go because
  -- their project does; then nobody will ask again.
  insert into contact_changes (project_id, data, subscribed, sign, contact_id)
    select g.project_id, g.data, g.subscribed, -1,
      case when not exists (select from contacts_trash t where t.id = g.id) then g.id end
    from gone g where g.project_id = any (array(
      select p.id from projects p where p.id = any (array(select distinct project_id from gone))));

  -- Segments find deleted contacts by a row for each statement. Appending needs no lock that two deletions would wait for.
  insert into contact_losses (project_id)
    select distinct g.project_id from gone g where exists (select from projects p where p.id = g.project_id);

  -- Mail and events go, and of contacts in the trash what was never sent. An erasure has emptied their rows, and campaigns count them.
  if current_setting('fernpost.erasing', true) is distinct from 'on' then
    delete from emails m where m.contact_id = any (lost);
    delete from events e where e.contact_id = any (lost);
    delete from emails m where m.contact_id = any (trashed)
      and m.status in ('PENDING', 'SENDING') and m.sent_at is null and m.message_id is null;
  end if;

  -- Executions of workflows go; deleting those that are under way cancels them (cancel_lost_runs).
  delete from automation_arrivals a where a.contact_id = any (lost || trashed);
  delete from automation_dates d where d.contact_id = any (lost || trashed);
  delete from automation_runs r where r.contact_id = any (lost);
  delete from automation_entries n where n.contact_id = any (lost);

  -- Those of contacts in the trash end, and stay with their entries, so that no workflow takes a restored contact for a new one.
  active := array(
    select r.id from automation_runs r
    where r.contact_id = any (trashed) and r.status in ('RUNNING', 'WAITING') order by r.id for update);
  if cardinality(active) > 0 then
    update automation_step_runs x set status = 'SKIPPED', completed_at = now(), updated_at = now()
      where x.run_id = any (active) and x.status in ('PENDING', 'SCHEDULED', 'WAITING', 'RUNNING');
    with ended as (
      update automation_runs r set status = 'CANCELLED', exit_reason = 'Contact deleted', completed_at = now(),
        updated_at = now(), due_at = null, next_version_id = null
      where r.id = any (active)
      returning r.project_id, r.completed_at, uuidv7() as id, 'automation/' || automation_id || '/' || contact_id || '/' || entry as execution),
    counted as (
      insert into mail_count_changes (project_id, hour, runs_completed)
      select project_id, date_bin('1 hour', completed_at, timestamptz 'epoch'), count(*) from ended group by 1, 2)
    insert into outbox (id, dedupe_key, kind, workflow_id, payload)
      select id, 'cancel:' || execution || ':' || id, 'cancel', execution,
        jsonb_build_object('type', 'cancel', 'id', execution)
      from ended;
    perform pg_notify('fernpost_outbox', '');
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION forget_dry_runs()
 RETURNS trigger
 LANGUAGE plpgsql
 SET jit TO 'off'
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
AS $function$
begin
  delete from dry_run_rows r using gone where r.dry_run_id = gone.id;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION forget_projects()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  delete from events e using gone where e.project_id = gone.id;
  delete from retention_cursors where rule = any (array(
    select 'removed ' || kind || ' ' || gone.id from gone, unnest(array['mail', 'events', 'runs']) kind));
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION forget_runs()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into mail_count_changes (
    project_id, hour, outgoing, incoming, delivered, opened, clicked, bounced,
    rated, rated_bounced, rated_complained, runs_started, runs_completed)
    select r.project_id, date_bin('1 hour', item.at, timestamptz 'epoch'), 0, 0, 0, 0, 0, 0, 0, 0, 0, -sum(item.started), -sum(item.completed)
    from gone r, lateral (values (r.started_at, 1, 0), (r.completed_at, 0, 1)) item (at, started, completed)
    where item.at is not null group by 1, 2;
  update automation_goals g set contact_id = null, check_at = null where g.run_id = any (array(select id from gone));
  with lost as (
    select uuidv7() as id, 'automation/' || automation_id || '/' || contact_id || '/' || entry as execution
    from gone where status in ('RUNNING', 'WAITING'))
  insert into outbox (id, dedupe_key, kind, workflow_id, payload)
    select id, 'cancel:' || execution || ':' || id, 'cancel', execution,
      jsonb_build_object('type', 'cancel', 'id', execution)
    from lost;
  if found then perform pg_notify('fernpost_outbox', ''); end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION mail_counts_of(source_type text, status text, simulated boolean, delivered_at timestamp with time zone DEFAULT NULL::timestamp with time zone, opened_at timestamp with time zone DEFAULT NULL::timestamp with time zone, clicked_at timestamp with time zone DEFAULT NULL::timestamp with time zone, bounced_at timestamp with time zone DEFAULT NULL::timestamp with time zone, complained_at timestamp with time zone DEFAULT NULL::timestamp with time zone)
 RETURNS TABLE(outgoing integer, incoming integer, delivered integer, opened integer, clicked integer, bounced integer, rated integer, rated_bounced integer, rated_complained integer)
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select is_out::integer, (source_type = 'INBOUND')::integer, (is_out and delivered_at is not null)::integer,
    (is_out and opened_at is not null)::integer, (is_out and clicked_at is not null)::integer, (is_out and bounced_at is not null)::integer,
    is_rated::integer, (is_rated and bounced_at is not null)::integer, (is_rated and complained_at is not null)::integer
  from (
    select source_type <> 'INBOUND' and status not in ('SUPPRESSED', 'CANCELLED') as is_out,
      source_type <> 'INBOUND' and status not in ('SUPPRESSED', 'CANCELLED', 'FAILED') and not simulated as is_rated) mail
$function$;

CREATE OR REPLACE FUNCTION mail_payload(id uuid, subject text, sender text, from_name text, message_id text, template_id uuid, campaign_id uuid, source_type text)
 RETURNS jsonb
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  select jsonb_build_object('subject', subject, 'from', sender, 'fromName', from_name, 'messageId', message_id, 'emailId', id,
    'templateId', template_id, 'campaignId', campaign_id, 'sourceType', source_type)
$function$;

CREATE OR REPLACE FUNCTION mail_reason_text(reason jsonb)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select replace(replace(case reason ->> 'code'
    when 'project_disabled' then 'Project is disabled'
    when 'domain_unverified' then 'Sender domain is not verified'
    when 'limit_reached' then 'Billing limit reached'
    when 'not_subscribed' then 'The contact is not subscribed'
    when 'unsubscribed' then 'Contact is unsubscribed'
    when 'campaign_cancelled' then 'Campaign cancelled'
    when 'left_audience' then 'No longer in the audience that was reviewed'
    when 'left_out_at_review' then 'Left out at the review: {words}'
    when 'cancelled' then 'Cancelled before it was sent'
    when 'left_workflow' then 'left the workflow: {words}'
    when 'not_rendered' then 'The message could not be rendered: {words}'
    when 'refused' then 'Refused by the provider ({number}): {words}'
    when 'submission_unknown' then 'submission unknown'
    when 'too_old' then 'Given up after 24 hours: {words}'
    when 'too_many_attempts' then 'Given up after {number} attempts: {words}'
    when 'provider' then '{words}'
    else reason ->> 'code' end, '{number}', coalesce(reason ->> 'number', '')), '{words}', coalesce(reason ->> 'words', ''))
$function$;

CREATE OR REPLACE FUNCTION match_restored_mail(restore timestamp with time zone, reach integer)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_column
declare
  most_claimed constant integer := 3000;
  never constant timestamptz := clock_timestamp() + interval '100 years';
  r restores;
  fresh uuid;
  early uuid[];
  last_call timestamptz;
  unknown integer;
begin
  select * into r from restores where restored_to = restore for update;
  if r.phase <> 'MATCHING' then return 0; end if;
  if exists (
    select from campaigns c left join campaign_sends s on s.campaign_id = c.id and s.send_seq = c.send_seq
    where c.id = any (r.campaigns)
      and (c.status = 'SCHEDULED' and c.scheduled_for <= clock_timestamp() or c.status = 'SENDING' and not coalesce(s.expanded, false)))
  then return null; end if;
  fresh := (lpad(to_hex(floor(1000 * extract(epoch from r.held_at))::bigint), 12, '0') || '70008000000000000000')::uuid;
  last_call := (
    select least(r.held_at, coalesce(max(accepted_at), r.restored_to) + interval '5 minutes') from restored_mail where restored_to = restore);

  with candidates as (
    select m.email_id as lost_id, m.message_id, m.accepted_at, m.source, m.campaign_id as named, e.id, e.project_id, e.contact_id, e.campaign_id
    from restored_mail m join emails e on e.contact_id = m.contact_id and e.project_id = m.project_id and e.source_type = m.source
    where m.restored_to = restore and m.outcome = 'LOST' and m.source in ('CAMPAIGN', 'WORKFLOW') and e.id >= fresh
      and e.status = 'PENDING' and e.sent_at is null and e.message_id is null
      and (m.source = 'WORKFLOW' or e.campaign_id = any (r.campaigns) and e.campaign_id = coalesce(m.campaign_id, e.campaign_id))),
  added as (
    insert into restored_mail (restored_to, email_id, project_id, contact_id, campaign_id, source, message_id, accepted_at, outcome)
    select distinct on (id) restore, id, project_id, contact_id, campaign_id, source, message_id, accepted_at,
      case when named is null then 'UNKNOWN' else 'FOUND' end
    from candidates order by id, named nulls last, accepted_at
    on conflict do nothing)
  update restored_mail m set outcome = 'MATCHED' from candidates k
  where m.restored_to = restore and m.email_id = k.lost_id and k.named is not null;

  early := array(
    select distinct e.project_id from restored_mail m join emails e on e.id = m.email_id
    where m.restored_to = restore and m.outcome = 'FOUND' and e.held_until > r.held_at
      and coalesce(e.campaign_id, e.workflow_step_execution_id) is not null);

  insert into restored_mail (restored_to, email_id, project_id, contact_id, source, outcome)
  select restore, id, project_id, contact_id, source_type, 'UNKNOWN'
  from (
    select *, max(place) filter (where is_found) over (partition by project_id) as last_found
    from (
      select e.id, e.project_id, e.contact_id, e.source_type, e.id >= fresh as is_new, e.message_id is not null as is_proven,
        e.id >= fresh and e.workflow_step_execution_id is not null and (not r.searched or coalesce(w.source_event_id, w.id) < fresh and not exists (
          select from automation_step_runs s
          where s.run_id = w.id and s.started_at < r.held_at and s.completed_at >= r.held_at
            and case when s.outcome = 'EVENT' then s.resume_event_id >= fresh else coalesce(s.scheduled_for + s.turn_ms * interval '1 millisecond', s.execute_after) > last_call end)) as is_repeated,
        m.email_id is not null as is_found, row_number() over (partition by q.project_id order by q.created_at, q.email_id) as place
      from email_queue q join emails e on e.id = q.email_id
        left join automation_runs w on w.id = e.workflow_execution_id
        left join restored_mail m on m.restored_to = restore and m.email_id = e.id
      where q.created_at <= r.held_at or e.id >= fresh and e.workflow_step_execution_id is not null
        or q.project_id = any (early) and e.held_until is not null and e.workflow_step_execution_id is not null) queued) placed
  where not is_found and not is_proven
    and (not is_new and (not r.searched or place <= coalesce(last_found, 0) + most_claimed)
      or is_repeated)
  on conflict do nothing;

  insert into restored_mail (restored_to, email_id, project_id, contact_id, campaign_id, source, outcome)
  select restore, id, project_id, contact_id, campaign_id, 'CAMPAIGN', 'UNKNOWN'
  from (
    select *, max(place) filter (where has_left) over (recipients rows unbounded preceding) as before,
      min(place) filter (where has_left) over (recipients rows between current row and unbounded following) as behind,
      bool_or(is_found) over (partition by campaign_id) as any_found
    from (
      select e.id, e.project_id, e.contact_id, e.campaign_id, h.contact_id is not null as was_held, k.contact_id is not null as is_canary, s.canary as is_canary_sent,
        c.paused_at is not null as is_paused, m.email_id is not null as is_found,
        e.sent_at is not null or e.message_id is not null or coalesce(m.outcome = 'FOUND', false) as has_left,
        e.status = 'PENDING' and e.sent_at is null and e.message_id is null and m.email_id is null
          and (h.due_at is null or h.due_at <= r.held_at or c.project_id = any (early)) as is_open,
        row_number() over (partition by e.campaign_id, k.contact_id is not null order by e.contact_id) as place
      from campaigns c join campaign_sends s on s.campaign_id = c.id and s.send_seq = c.send_seq
        join emails e on e.campaign_id = c.id and e.send_seq = c.send_seq
        left join campaign_held_contacts h on h.campaign_id = c.id and h.send_seq = c.send_seq and h.contact_id = e.contact_id
        left join campaign_canary_contacts k on k.campaign_id = c.id and k.send_seq = c.send_seq and k.contact_id = e.contact_id
        left join restored_mail m on m.restored_to = restore and m.email_id = e.id
      where c.id = any (r.campaigns) and c.status = 'SENDING') numbered
    window recipients as (partition by campaign_id, is_canary order by place)) near
  where is_open and (not is_paused or any_found)
    and (not r.searched or was_held or place - before <= reach or behind - place <= reach
      or before is null and behind is null and place <= reach and is_canary = is_canary_sent)
  on conflict do nothing;

  update email_queue q set claim_id = 'restored', claimed_at = r.restored_to, lookups = 1, due_at = never
  where q.email_id = any (array(select email_id from restored_mail where restored_to = restore and outcome = 'UNKNOWN'));
  delete from campaign_held_contacts h using campaigns c, restored_mail m
  where m.restored_to = restore and m.outcome = 'UNKNOWN' and c.id = m.campaign_id and h.campaign_id = c.id and h.send_seq = c.send_seq
    and h.contact_id = m.contact_id;
  update emails e set status = 'SENDING', held_until = null
  where e.id = any (array(
    select email_id from restored_mail where restored_to = restore and outcome = 'UNKNOWN' and campaign_id is not null))
    and e.status = 'PENDING';
  insert into campaign_claims (id, campaign_id, send_seq, through_contact, size, claimed_at, taken_at, due_at, handed_at, canary, version)
  select 'restored/' || c.id || '/' || c.send_seq, c.id, c.send_seq, u.through_contact, u.mails, r.restored_to, never, never, r.restored_to,
    s.canary, c.content_version
  from (
    select campaign_id, count(*)::int as mails, (array_agg(contact_id order by contact_id desc))[1] as through_contact
    from restored_mail where restored_to = restore and outcome = 'UNKNOWN' and campaign_id is not null group by campaign_id) u
    join campaigns c on c.id = u.campaign_id join campaign_sends s on s.campaign_id = c.id and s.send_seq = c.send_seq
  on conflict do nothing;
  update restores set phase = 'SETTLING' where restored_to = restore;
  select count(*)::int into unknown from restored_mail where restored_to = restore and outcome = 'UNKNOWN';
  return unknown;
end
$function$;

CREATE OR REPLACE FUNCTION narrowed_filters(projects uuid[])
 RETURNS TABLE(project_id uuid, filter jsonb)
 LANGUAGE sql
 STABLE
AS $function$
  with steps (project_id, config) as (
    select a.project_id, s.config
    from automations a join automation_steps s on s.automation_id = a.id
    where a.project_id = any (projects)
      and (s.type = 'CONDITION' and s.config ->> 'mode' in ('tree', 'multi') or s.type = 'TRIGGER' and s.config ?| array['exits', 'goal'])
    union all
    select pinned.project_id, pinned.config
    from (
      select a.id, a.project_id, v.id as version, step.value -> 'config' as config
      from automations a join automation_versions v on v.automation_id = a.id
        cross join lateral jsonb_array_elements(v.graph -> 'steps') step (value)
      where a.project_id = any (projects) and (step.value ->> 'type' = 'CONDITION' and step.value #>> '{config,mode}' in ('tree', 'multi')
        or step.value ->> 'type' = 'TRIGGER' and step.value -> 'config' ?| array['exits', 'goal'])
      -- Contacts are looked for only where there is something to keep for them.
      offset 0) pinned
    where exists (
      select from automation_runs r
      where r.automation_id = pinned.id and r.status in ('RUNNING', 'WAITING') and pinned.version in (r.version_id, r.next_version_id))
      or exists (select from automation_goals g where g.version_id = pinned.version and g.check_at is not null))
  select c.project_id, f.filter
  from (
    select s.project_id, s.condition from segments s where s.project_id = any (projects)
    union all
    select k.project_id, k.audience_condition from campaigns k where k.project_id = any (projects) and k.status in ('DRAFT', 'SCHEDULED')
    union all
    select a.project_id, a.trigger_config -> 'audienceCondition' from automations a where a.project_id = any (projects)
    union all
    select s.project_id, s.config -> 'condition' from steps s where s.config ->> 'mode' = 'tree'
    union all
    select s.project_id, jsonb_path_query(s.config, 'lax $.branches[*].condition') from steps s where s.config ->> 'mode' = 'multi'
    union all
    select s.project_id, jsonb_path_query(s.config, 'lax $.exits[*].on.condition') from steps s where s.config ? 'exits'
    union all
    select s.project_id, s.config #> '{goal,on,condition}' from steps s where s.config ? 'goal') c (project_id, condition)
  cross join lateral jsonb_path_query(
    -- Steps that are being edited may have anything in their conditions.
    c.condition, 'strict $.** ? (@.field.type() == "string" && (exists(@.where) || exists(@.times) || exists(@.of) || exists(@.link)))') f (filter)
  where jsonb_typeof(c.condition) = 'object'
$function$;

CREATE OR REPLACE FUNCTION narrowed_names(projects uuid[])
 RETURNS TABLE(project_id uuid, name text)
 LANGUAGE sql
 STABLE
AS $function$
  select distinct f.project_id, case when f.filter ? 'link' then 'email.click' else regexp_replace(f.filter ->> 'field', '^event\.', '') end
  from narrowed_filters(projects) f
  -- Filters on mail look at mail, but for links, which are in the data of clicks.
  where f.filter ? 'link' or f.filter ->> 'field' not like 'email.%'
$function$;

CREATE OR REPLACE FUNCTION record_events(happened new_event[])
 RETURNS integer
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
 SET jit TO 'off'
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET enable_nestloop TO 'on'
AS $function$
declare
  starts boolean;
  watched boolean;
  ends boolean := false;
  counts boolean := false;
  wakes boolean := false;
begin
  if cardinality(happened) = 0 then
    return 0;
  end if;

  insert into events (id, project_id, contact_id, email_id, name, data, mail_at, limited_by)
    select e.id, e.project_id, e.contact_id, e.email_id, e.name, e.data, e.mail_at, e.limited_by from unnest(happened) e;

  -- What happens to many contacts at once mostly has one name, which is looked up once. Contacts leave segments that are known by their IDs.
  select coalesce(bool_or(exists (
      select from automations l where l.project_id = e.project_id and l.event_name = e.name and l.enabled)), false),
    coalesce(bool_or(e.name like 'segment.%.exit' or exists (
      select from automation_watches w where w.project_id = e.project_id and w.event_name = e.name)), false)
  into starts, watched
  from unnest(happened) e
  where e.id = (happened[1]).id or e.name <> (happened[1]).name or e.project_id <> (happened[1]).project_id;

  if watched then
    select coalesce(bool_or(w.ends), false), coalesce(bool_or(w.counts), false), coalesce(bool_or(w.waits and exists (
        select from automation_step_runs s
        where s.project_id = e.project_id and s.event_name = e.name and s.status = 'WAITING' and s.outcome is null)), false)
    into ends, counts, wakes
    from unnest(happened) e cross join lateral (
      select bool_or(l.ends) as ends, bool_or(l.counts) as counts, bool_or(l.waits) as waits from automation_watches l
      where l.project_id = e.project_id
        and l.event_name in (e.name, case when e.name like 'segment.%.exit' then 'segment:' || (e.data ->> 'segmentId') end)
      offset 0) w
    where e.id = (happened[1]).id or e.name <> (happened[1]).name or e.project_id <> (happened[1]).project_id
      or e.name like 'segment.%.exit';
  end if;

  if starts then
    insert into automation_arrivals (automation_id, project_id, contact_id, event_id)
      select a.id, e.project_id, e.contact_id, e.id
      from unnest(happened) e cross join lateral (
        select l.id from automations l
        where l.project_id = e.project_id and l.event_name = e.name and l.enabled
        offset 0) a
      where e.contact_id is not null
      on conflict (automation_id, event_id) do nothing;
    if found then
      perform pg_notify('fernpost_arrivals', '');
    end if;
  end if;

  if ends then
    with met as materialized (
      select distinct on (l.id) l.id, e.id as event_id
      from unnest(happened) e cross join lateral (
        select r.id from automation_watches w cross join lateral (
          select a.id from automation_runs a
          where a.automation_id = w.automation_id and a.contact_id = e.contact_id and a.version_id = w.version_id
            and a.status in ('RUNNING', 'WAITING') and (e.limited_by is null or a.limited_by @> array[e.limited_by])
          offset 0) r
        where w.project_id = e.project_id and w.ends
          and w.event_name in (e.name, case when e.name like 'segment.%.exit' then 'segment:' || (e.data ->> 'segmentId') end)
        offset 0) l
      order by l.id, e.id),
    held as materialized (
      select r.id from automation_runs r
      where r.id = any (array(select id from met)) and r.status in ('RUNNING', 'WAITING')
      order by r.id for update),
    leaving as (
      update automation_runs r set due_at = now(), updated_at = now(),
        exit_event_id = least(r.exit_event_id, (select met.event_id from met where met.id = r.id))
      where r.id = any (array(select id from held))
      returning r.seq, 'automation/' || r.automation_id || '/' || r.contact_id || '/' || r.entry as execution,
        (select met.event_id from met where met.id = r.id) as event_id)
    insert into outbox (id, dedupe_key, kind, workflow_id, payload)
      select uuidv7(), 'signal:' || execution || ':' || event_id, 'signal', execution,
        jsonb_build_object('type', 'signal', 'id', execution, 'signal', 'resume', 'input', jsonb_build_object('seq', seq))
      from leaving
      on conflict (dedupe_key) do nothing;
    if found then
      perform pg_notify('fernpost_outbox', '');
    end if;
  end if;

  if wakes then
    with met as materialized (
      select distinct on (w.id) w.id, e.id as event_id
      from unnest(happened) e cross join lateral (
        select s.id from automation_step_runs s
        where s.project_id = e.project_id and s.event_name = e.name and s.contact_id = e.contact_id
          and s.status = 'WAITING' and s.outcome is null
          and (e.limited_by is null
            or exists (select from automation_runs r where r.id = s.run_id and r.limited_by @> array[e.limited_by]))
        offset 0) w
      order by w.id, e.id),
    held as materialized (
      select s.id from automation_step_runs s
      where s.id = any (array(select id from met)) and s.status = 'WAITING' and s.outcome is null
      order by s.id for update),
    claimed as (
      update automation_step_runs s set outcome = case when s.input ->> 'where' is null then 'EVENT' end, updated_at = now(),
        resume_event_id = least(s.resume_event_id, (select met.event_id from met where met.id = s.id))
      where s.id = any (array(select id from held))
      returning s.id, s.run_id, s.seq,
        case when s.outcome is null then ':' || (select met.event_id from met where met.id = s.id) else '' end as untested),
    woken as (
      select uuidv7() as id, c.id || c.untested as step_run_id, c.seq + 1 as seq,
        'automation/' || r.automation_id || '/' || r.contact_id || '/' || r.entry as execution
      from claimed c cross join lateral (
        select automation_id, contact_id, entry from automation_runs where automation_runs.id = c.run_id offset 0) r)
    insert into outbox (id, dedupe_key, kind, workflow_id, payload)
      select id, 'signal:' || execution || ':' || step_run_id, 'signal', execution,
        jsonb_build_object('type', 'signal', 'id', execution, 'signal', 'resume', 'input', jsonb_build_object('seq', seq))
      from woken
      on conflict (dedupe_key) do nothing;
    if found then
      perform pg_notify('fernpost_outbox', '');
    end if;
  end if;

  if counts then
    with held as materialized (
      select g.run_id from automation_goals g
      where g.check_at is not null and g.run_id = any (array(
        select l.run_id from unnest(happened) e cross join lateral (
          select o.run_id from automation_watches w cross join lateral (
            select a.run_id from automation_goals a
            where a.contact_id = e.contact_id and a.version_id = w.version_id and a.check_at is not null
            offset 0) o
          where w.project_id = e.project_id and w.counts
            and w.event_name in (e.name, case when e.name like 'segment.%.exit' then 'segment:' || (e.data ->> 'segmentId') end)
          offset 0) l))
      order by g.run_id for update)
    update automation_goals g set check_at = now() where g.run_id = any (array(select run_id from held));
  end if;
  return cardinality(happened);
end
$function$;

CREATE OR REPLACE FUNCTION release_restored_mail(only_ended boolean)
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
declare
  released uuid[];
begin
  with freed as (
    update restored_mail m set outcome = 'RELEASED'
    where m.outcome = 'UNKNOWN' and (not only_ended or m.campaign_id is not null and not exists (
      select from campaigns c where c.id = m.campaign_id and c.status = 'SENDING'))
    returning m.email_id)
  select coalesce(array_agg(email_id), '{}') into released from freed;
  update email_queue set claim_id = null, claimed_at = null, lookups = 0, due_at = clock_timestamp()
  where email_id = any (released) and claim_id = 'restored';
  update emails set status = 'PENDING' where id = any (released) and status = 'SENDING' and sent_at is null and message_id is null;
  update campaign_claims k set settled = true
  where k.id like 'restored/%' and not k.settled and not exists (
    select from restored_mail m where m.campaign_id = k.campaign_id and m.outcome = 'UNKNOWN');
  return cardinality(released);
end
$function$;

CREATE OR REPLACE FUNCTION removable_events(page uuid[], cutoff timestamp with time zone)
 RETURNS uuid[]
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
 SET jit TO 'off'
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
AS $function$
declare
  old uuid[] := page;
  narrowed text[];
begin
  if cutoff is not null then
    narrowed := array(
      select f.project_id || ' ' || f.name from narrowed_names(array(select distinct e.project_id from events e where e.id = any (page))) f);
    old := array(
      select e.id from events e
      where e.id = any (page) and e.created_at < cutoff and e.name not in ('contact.subscribed', 'contact.unsubscribed')
        and e.project_id || ' ' || e.name <> all (narrowed)
        and (e.contact_id is null or exists (
          select from events n where n.contact_id = e.contact_id and n.name = e.name and n.created_at >= e.created_at
            and (n.created_at, n.id) > (e.created_at, e.id))));
  end if;
  return array(
    select e.id from events e
    where e.id = any (old) and e.created_at < (select counted_through from event_counts_state) and e.limited_by is null
      and not exists (
        select from webhook_endpoints w where w.project_id = e.project_id and w.status = 'ENABLED' and (w.cursor_at <= e.created_at
          or exists (select from webhook_deliveries d where d.endpoint_id = w.id and d.event_id = e.id and d.status = 'PENDING')))
      and (e.contact_id is null or not exists (
        select from automations a where a.project_id = e.project_id and (
          exists (select from automation_arrivals p where p.automation_id = a.id and p.event_id = e.id)
          or exists (select from automation_runs r where r.automation_id = a.id and r.source_event_id = e.id
            and r.status in ('RUNNING', 'WAITING'))))));
end
$function$;

CREATE OR REPLACE FUNCTION remove_events(old uuid[], cutoff timestamp with time zone DEFAULT NULL::timestamp with time zone)
 RETURNS integer
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
 SET jit TO 'off'
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
AS $function$
declare
  going uuid[];
  removed integer;
begin
  -- The lock keeps out whoever moves the instant up to which events are counted; see uncount_deleted_events.
  perform pg_advisory_xact_lock_shared(hashtextextended('event counts', 0));
  going := removable_events(old, cutoff);
  with gone as (
    delete from events e where e.id = any (going)
    returning e.project_id, e.name, e.created_at, e.mail_at),
  days as (
    insert into event_counts (project_id, name, day, events)
    select gone.project_id, gone.name, (gone.created_at at time zone 'UTC')::date, count(*)
    from gone where exists (select from projects p where p.id = gone.project_id)
    group by 1, 2, 3),
  hours as (
    insert into activity_counts (project_id, kind, hour, items)
    select gone.project_id, item.kind, date_bin('1 hour', item.at, timestamptz 'epoch'), count(*)
    from gone, lateral (
      select '' as kind, gone.created_at as at
      union all select gone.name, gone.mail_at where gone.mail_at is not null) item
    where exists (select from projects p where p.id = gone.project_id)
    group by 1, 2, 3)
  select count(*) into removed from gone;
  return removed;
end
$function$;

CREATE OR REPLACE FUNCTION remove_old_events(cutoff timestamp with time zone, before uuid, again uuid, most integer, own integer DEFAULT NULL::integer)
 RETURNS TABLE(walked integer, removed integer)
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
 SET jit TO 'off'
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
AS $function$
declare
  page uuid[];
begin
  select p.walked, p.page into walked, page from retention_page('events', 'events', before, again, most, own, 'event_retention_days') p;
  removed := remove_events(page, cutoff);
  return next;
end
$function$;

CREATE OR REPLACE FUNCTION remove_old_mail(cutoff timestamp with time zone, before uuid, again uuid, most integer, own integer DEFAULT NULL::integer)
 RETURNS TABLE(walked integer, removed integer)
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
 SET jit TO 'off'
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
AS $function$
declare
  page uuid[];
  busy uuid[];
  named text[];
  notes uuid[];
begin
  select p.walked, p.page into walked, page from retention_page('mail', 'emails', before, again, most, own, 'email_retention_days') p;
  busy := array(
    select p.campaign_id
    from (select distinct m.project_id, m.campaign_id, m.send_seq from emails m where m.id = any (page) and m.campaign_id is not null) p
    where exists (select from campaign_sends s where s.campaign_id = p.campaign_id and s.send_seq = p.send_seq and not s.closed)
      or exists (select from campaigns c where c.id = p.campaign_id and c.status = 'SENDING')
      or exists (select from campaigns k where k.project_id = p.project_id and k.resend_of = p.campaign_id and k.status in ('SCHEDULED', 'SENDING')));
  named := array(
    select source.value #>> '{}'
    from narrowed_filters(array(select distinct m.project_id from emails m where m.id = any (page))) f
      cross join lateral jsonb_path_query(f.filter, 'lax $.of.*') source (value)
    where source.value #>> '{}' is not null);
  with gone as (
    delete from emails m
    where m.id = any (page) and m.status not in ('PENDING', 'SENDING') and coalesce(m.sent_at, m.created_at) < cutoff
      and (m.campaign_id is null or m.campaign_id <> all (busy))
      and (cardinality(named) = 0 or coalesce(
        m.campaign_id::text <> all (named), true) and coalesce(m.template_id::text <> all (named), true) and not exists (
          select from automation_step_runs x where x.id = m.workflow_step_execution_id and x.step_id::text = any (named)))
      and not exists (select from email_queue q where q.email_id = m.id)
      and (m.workflow_execution_id is null or not exists (
        select from automation_runs r where r.id = m.workflow_execution_id and r.status in ('RUNNING', 'WAITING')))
      and not exists (
        select from usage_reports u join projects p on p.id = u.project_id
        where u.project_id = m.project_id and p.customer is not null and u.reported_through < m.id)
      and not exists (select from usage_reports_waiting w where w.project_id = m.project_id and w.email_id = m.id)
      and not exists (
        select from (values ('sent'), ('delivered'), ('opened'), ('clicked'), ('bounced'), ('complained')) activity (name)
        where case activity.name
          when 'sent' then m.sent_at is not null and not exists (
            select from emails n where n.contact_id = m.contact_id and (n.sent_at, n.id) > (m.sent_at, m.id))
          when 'delivered' then m.delivered_at is not null and not exists (
            select from emails n where n.contact_id = m.contact_id and (n.delivered_at, n.id) > (m.delivered_at, m.id))
          when 'opened' then m.opened_at is not null and not exists (
            select from emails n where n.contact_id = m.contact_id and (n.opened_at, n.id) > (m.opened_at, m.id))
          when 'clicked' then m.clicked_at is not null and not exists (
            select from emails n where n.contact_id = m.contact_id and (n.clicked_at, n.id) > (m.clicked_at, m.id))
          when 'bounced' then m.bounced_at is not null and not exists (
            select from emails n where n.contact_id = m.contact_id and (n.bounced_at, n.id) > (m.bounced_at, m.id))
          else m.complained_at is not null and not exists (
            select from emails n where n.contact_id = m.contact_id and (n.complained_at, n.id) > (m.complained_at, m.id)) end)
    returning m.*),
  hours as (
    insert into mail_count_changes (project_id, hour, outgoing, incoming, delivered, opened, clicked, bounced, rated, rated_bounced, rated_complained)
    select m.project_id, date_bin('1 hour', m.created_at, timestamptz 'epoch'), sum(c.outgoing), sum(c.incoming), sum(c.delivered),
      sum(c.opened), sum(c.clicked), sum(c.bounced), sum(c.rated), sum(c.rated_bounced), sum(c.rated_complained)
    from gone m cross join lateral mail_counts_of(m.source_type, m.status, m.simulated, m.delivered_at, m.opened_at, m.clicked_at,
      m.bounced_at, m.complained_at) c
    group by 1, 2 having sum(c.outgoing) + sum(c.incoming) > 0),
  recipients as (
    insert into campaign_ledger_sums as s (campaign_id, send_seq, verdict, reason, recipients)
    select v.campaign_id, v.send_seq, v.verdict, v.reason, count(*)
    from (
      select m.campaign_id, m.send_seq, case
          when m.sent_at is not null or m.message_id is not null then 'handed_over'
          when m.status in ('SUPPRESSED', 'CANCELLED')
            or m.reason ->> 'code' in ('unsubscribed', 'campaign_cancelled', 'left_audience', 'left_out_at_review') then 'skipped'
          else 'failed' end as verdict,
        case
          when m.sent_at is not null or m.message_id is not null then ''
          when m.suppression ->> 'kind' = 'HOLDOUT' then 'In the control group (holdout)'
          when m.status = 'SUPPRESSED' then 'Suppressed' || coalesce(' by rule "' || (m.suppression ->> 'name') || '"', '')
          when m.reason is null then 'Unknown'
          when m.reason ->> 'code' = 'provider' then 'Refused by the provider'
          else rtrim(mail_reason_text(m.reason - 'words'), ': ') end as reason
      from gone m where m.campaign_id is not null) v
    where exists (select from campaigns c where c.id = v.campaign_id)
    group by 1, 2, 3, 4 order by 1, 2, 3, 4
    on conflict (campaign_id, send_seq, verdict, reason) do update set recipients = s.recipients + excluded.recipients),
  of_templates as (
    update templates t set removed_mails = t.removed_mails + n.mails
    from (select template_id, count(*) as mails from gone where template_id is not null group by template_id order by template_id) n
    where t.id = n.template_id)
  select count(*), coalesce(array_agg(sent.id) filter (where sent.id is not null), '{}') into removed, notes
  from gone m left join lateral (
    select e.id from events e
    where e.contact_id = m.contact_id and e.created_at >= m.created_at and e.created_at < cutoff and e.email_id = m.id
      and e.name = 'email.sent' and e.data is null
    order by e.created_at limit 1) sent on m.sent_at is not null;
  perform remove_events(notes);
  return next;
end
$function$;

CREATE OR REPLACE FUNCTION remove_old_runs(cutoff timestamp with time zone, before uuid, again uuid, most integer, own integer DEFAULT NULL::integer)
 RETURNS TABLE(walked integer, removed integer)
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
 SET jit TO 'off'
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
AS $function$
declare
  page uuid[];
  named text[];
begin
  select p.walked, p.page into walked, page from retention_page('runs', 'automation_runs', before, again, most, own, 'execution_retention_days') p;
  named := array(
    select f.filter #>> '{of,stepId}'
    from narrowed_filters(array(select distinct r.project_id from automation_runs r where r.id = any (page))) f
    where f.filter #>> '{of,stepId}' is not null);
  with gone as (
    delete from automation_runs r
    where r.id = any (page) and r.status not in ('RUNNING', 'WAITING') and coalesce(r.completed_at, r.updated_at) < cutoff
      and not exists (select from automation_goals g where g.run_id = r.id and g.check_at is not null)
      and not exists (
        select from automation_step_runs x
        where x.run_id = r.id and (x.step_id::text = any (named) or exists (
          select from emails m join email_queue q on q.email_id = m.id where m.workflow_step_execution_id = x.id)))
    returning r.*),
  hours as (
    insert into mail_count_changes (project_id, hour, runs_started, runs_completed)
    select r.project_id, date_bin('1 hour', item.at, timestamptz 'epoch'), sum(item.started), sum(item.completed)
    from gone r cross join lateral (values (r.started_at, 1, 0), (r.completed_at, 0, 1)) item (at, started, completed)
    where item.at is not null group by 1, 2),
  paths as (
    insert into automation_path_sums as p (automation_id, step_id, day, branch, runs)
    select r.automation_id, x.step_id, (x.started_at at time zone 'UTC')::date, coalesce(x.branch, ''), count(*)
    from gone r join automation_step_runs x on x.run_id = r.id
    where exists (select from automations a where a.id = r.automation_id)
      -- A step that was retried counts once.
      and not (x.status = 'FAILED' and exists (
        select from automation_step_runs again where again.run_id = r.id and again.step_id = x.step_id and again.seq > x.seq))
    group by 1, 2, 3, 4 order by 1, 2, 3, 4
    on conflict (automation_id, step_id, day, branch) do update set runs = p.runs + excluded.runs),
  of_automations as (
    update automations a set removed_runs = a.removed_runs + n.runs
    from (select automation_id, count(*) as runs from gone group by automation_id order by automation_id) n
    where a.id = n.automation_id)
  select count(*) into removed from gone;
  return next;
end
$function$;

CREATE OR REPLACE FUNCTION removed_before(kind text, project uuid DEFAULT NULL::uuid)
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  select timestamptz 'epoch' + ('x' || left(replace(through::text, '-', ''), 12))::bit(48)::bigint * interval '1 millisecond'
  from retention_cursors where rule in ('removed ' || kind, 'removed ' || kind || ' ' || project) order by through desc limit 1
$function$;

CREATE OR REPLACE FUNCTION retention_page(kind text, table_name text, before uuid, again uuid, most integer, own integer, own_column text, OUT walked integer, OUT page uuid[])
 RETURNS record
 LANGUAGE plpgsql
 SET jit TO 'off'
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
AS $function$
declare
  nobody constant uuid := '00000000-0000-0000-0000-000000000000';
  walk constant text := kind || coalesce(' ' || own, '');
  place uuid;
begin
  insert into retention_cursors (rule, through) values (walk, nobody) on conflict do nothing;
  select through into place from retention_cursors where rule = walk for update;
  if place < again and place::text like '%-7000-8000-000000000000' then
    place := nobody;
  end if;
  execute format('select array(select id from %I where id > $1 and id < $2 order by id limit $3)', table_name) into page
    using place, before, most;
  update retention_cursors set through = case when cardinality(page) = most then page[most] else greatest(place, before) end where rule = walk;
  walked := cardinality(page);
  if walked > 0 and own is null then
    insert into retention_cursors as c (rule, through) values ('removed ' || kind, before)
      on conflict (rule) do update set through = greatest(c.through, excluded.through);
  elsif walked > 0 then
    execute format($q$
      with theirs as materialized (
        select r.id, r.project_id from %I r join projects p on p.id = r.project_id where r.id = any ($1) and p.%I = $2),
      noted as (
        insert into retention_cursors as c (rule, through)
          select distinct 'removed ' || $3 || ' ' || project_id, $4 from theirs order by 1
          on conflict (rule) do update set through = greatest(c.through, excluded.through))
      select coalesce(array_agg(id), '{}') from theirs$q$, table_name, own_column) into page using page, own, kind, before;
  end if;
end
$function$;

CREATE OR REPLACE FUNCTION settle_mail(claim settled_claim, verdicts settled_mail, returned returned_mail[])
 RETURNS TABLE(sent integer, skipped integer, failed integer)
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
 SET jit TO 'off'
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_nestloop TO 'off'
AS $function$
#variable_conflict use_column
declare
  most_kept_bytes constant bigint := 1024 * 1024 * 1024;
  is_queued constant boolean := claim.campaign is null;
  -- The milliseconds of now, as IDs begin with them.
  stamp constant bytea := substring(int8send(floor(extract(epoch from now()) * 1000)::bigint) from 3);
  ids constant uuid[] := verdicts.ids;
  instant constant timestamptz := verdicts.instants[1];
  sent_ids uuid[] := ids;
  failed_ids uuid[] := '{}';
  held_ids uuid[] := '{}';
  kept_ids uuid[] := '{}';
  happened new_event[];
  again record;
begin
  if cardinality(verdicts.outcomes) > 0 then
    select coalesce(array_agg(id) filter (where outcome is null), '{}'), coalesce(array_agg(id) filter (where outcome = 'FAILED'), '{}')
    into sent_ids, failed_ids
    from unnest(ids, verdicts.outcomes) as v(id, outcome);
  end if;
  if is_queued and cardinality(verdicts.outcomes) > 0 then
    held_ids := array(select email_id from email_queue where email_id = any (ids) and claim_id = claim.id);
    kept_ids := array(
      select f.id from (
        select e.id, e.project_id, sum(q.bytes) over (partition by e.project_id order by e.id) as through
        from emails e join email_queue q on q.email_id = e.id
        where e.id = any (failed_ids) and q.email_id = any (failed_ids) and q.claim_id = claim.id
          and e.render is not null and jsonb_typeof(e.attachments) = 'array') f
      where f.through + coalesce((select sum(k.bytes) from failed_attachments k where k.project_id = f.project_id), 0) <= most_kept_bytes);
  end if;

  with settled as (
    update emails e set
      status = case when e.status in ('PENDING', 'SENDING') then v.outcome else e.status end,
      reason = case when e.status in ('PENDING', 'SENDING') then v.reason else e.reason end,
      message_id = coalesce(v.message_id, e.message_id),
      sent_at = v.at,
      bounced_at = case when v.outcome = 'BOUNCED' then coalesce(e.bounced_at, now()) else e.bounced_at end,
      provider = claim.provider, stream = coalesce(v.stream, claim.stream, e.stream),
      subject = coalesce(v.subject, e.subject),
      body = case when v.outcome = 'FAILED' and e.render is not null then e.body else coalesce(v.body, e.body) end,
      render = case when v.subject is null or v.outcome = 'FAILED' then e.render end,
      attachments = case when jsonb_typeof(e.attachments) is distinct from 'array' or e.id = any (kept_ids) then e.attachments
        else (select jsonb_agg(file - 'content') from jsonb_array_elements(e.attachments) file) end,
      content_version = coalesce(e.content_version, (select nullif(k.version, 1) from campaign_claims k where k.id = claim.id)),
      updated_at = now()
    from (
      select id, coalesce(outcome, 'SENT') as outcome, message_id, case when outcome is null then coalesce(at, instant) end as at,
        subject, body, stream, reason, flip_id, event_id
      from unnest(ids, verdicts.outcomes, verdicts.message_ids, verdicts.instants, verdicts.subjects, verdicts.bodies, verdicts.streams,
        verdicts.reasons, verdicts.flip_ids, verdicts.event_ids)
        as given(id, outcome, message_id, at, subject, body, stream, reason, flip_id, event_id)) v
    where e.id = any (ids) and e.id = v.id
      and (is_queued or e.campaign_id is not distinct from claim.campaign and e.send_seq = claim.seq)
      and e.sent_at is null
      and (v.outcome = 'SENT' and not (e.status = 'FAILED' and e.message_id is null)
        or e.status in ('PENDING', 'SENDING') and (not is_queued or e.id = any (held_ids)))
    returning e.id, e.project_id, e.contact_id, e.source_type, e.message_class, e.created_at, e.sent_at, e.bounced_at, e.simulated, e.limited_by,
      v.outcome, v.flip_id, v.event_id,
      v.outcome = 'FAILED' and coalesce(e.reason ->> 'code' in ('unsubscribed', 'campaign_cancelled', 'left_audience', 'left_out_at_review'),
        false) as is_left_out,
      case when v.outcome = 'BOUNCED' or v.outcome = 'FAILED' and e.message_id is null then
        mail_payload(e.id, case when v.outcome = 'FAILED' then coalesce(e.subject, e.render ->> 'subject') else e.subject end,
          e."from", e.from_name, e.message_id, e.template_id, e.campaign_id, e.source_type)
        || case v.outcome
          when 'BOUNCED' then jsonb_build_object('bounceType', 'Permanent', 'bouncedAt',
            to_char(e.bounced_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
          else jsonb_build_object('error', mail_reason_text(e.reason), 'failedAt',
            to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) end
        || coalesce((select jsonb_build_object('tags', jsonb_object_agg(t.name, t.value)) from email_tags t where t.email_id = e.id
          having count(*) > 0), '{}') end as payload),
  mail_counted as (
    insert into mail_count_changes (project_id, hour, bounced, rated, rated_bounced)
    select s.project_id, date_bin('1 hour', s.created_at, timestamptz 'epoch'), sum(now.bounced - was.bounced), sum(now.rated - was.rated),
      sum(now.rated_bounced - was.rated_bounced)
    from settled s cross join lateral mail_counts_of(s.source_type, 'PENDING', s.simulated) was
      cross join lateral mail_counts_of(s.source_type, s.outcome, s.simulated, bounced_at => s.bounced_at) now
    where s.outcome <> 'SENT' group by 1, 2),
  usage_moved as (
    insert into usage_counters as u (project_id, month, category, settled, failed)
    select project_id, date_trunc('month', created_at at time zone 'UTC')::date,
      case when source_type in ('CAMPAIGN', 'WORKFLOW') and message_class = 'TRANSACTIONAL' then 'TRANSACTIONAL'
        else source_type end,
      count(*) filter (where outcome in ('SENT', 'BOUNCED')), count(*) filter (where outcome = 'FAILED')
    from settled
    group by 1, 2, 3 order by 1, 2, 3
    on conflict (project_id, month, category) do update set
      settled = u.settled + excluded.settled, failed = u.failed + excluded.failed
    returning 1),
  flipped as materialized (
    select w.id
    from (
      select project_id, limited_by, jsonb_agg(jsonb_build_object('id', contact_id, 'subscribed', false,
        'flipId', flip_id, 'flipEmailId', id, 'flipData', jsonb_build_object('reason', 'bounce'))) as rows
      from (select distinct on (contact_id) contact_id, id, project_id, flip_id, limited_by from settled where outcome = 'BOUNCED') s
      where (select count(*) from usage_moved) >= 0 group by project_id, limited_by) b,
    write_contacts(project => b.project_id, given => b.rows, cause => '{"type": "report"}', limited_by => b.limited_by,
      subscribed_when_new => null, waits => true, restores => false) w),
  tally as (
    select (count(*) filter (where outcome = 'SENT'))::int as sent, (count(*) filter (where is_left_out))::int as skipped,
      (count(*) filter (where outcome <> 'SENT' and not is_left_out))::int as failed,
      (count(*) filter (where outcome = 'BOUNCED'))::int as bounced
    from settled),
  counted as (
    update campaigns c set sent_count = c.sent_count + t.sent, skipped_count = c.skipped_count + t.skipped,
      failed_count = c.failed_count + t.failed, bounced_count = c.bounced_count + t.bounced
    from tally t
    where c.id = claim.campaign and c.send_seq = claim.seq and t.sent + t.skipped + t.failed > 0
      and (select count(*) from usage_moved) >= 0
    returning 1),
  hours_counted as (
    insert into campaign_hours as h (campaign_id, send_seq, hour, sent, bounced)
    select claim.campaign, claim.seq, date_bin('1 hour', coalesce(sent_at, bounced_at), timestamptz 'epoch'),
      count(*) filter (where outcome = 'SENT'), count(*) filter (where outcome = 'BOUNCED')
    from settled where outcome in ('SENT', 'BOUNCED') and not is_queued and (select count(*) from counted) > 0
    group by 3 order by 3
    on conflict (campaign_id, send_seq, hour) do update set sent = h.sent + excluded.sent, bounced = h.bounced + excluded.bounced)
  select t.sent, t.skipped, t.failed, array(
    select row(encode(overlay(uuid_send(id) placing stamp from 1 for 6), 'hex')::uuid, project_id, contact_id, id, 'email.sent', null, sent_at, limited_by)::new_event from settled where outcome = 'SENT'
    union all
    select row(event_id, project_id, contact_id, id, 'email.bounce', payload, bounced_at, limited_by)::new_event
    from settled where outcome = 'BOUNCED' and (select count(*) from flipped) >= 0
    union all
    select row(uuidv7(), project_id, contact_id, id, 'email.failed', payload, now(), limited_by)::new_event
    from settled where outcome = 'FAILED' and payload is not null and not is_left_out)
  into sent, skipped, failed, happened from tally t;

  if is_queued then
    if cardinality(kept_ids) > 0 then
      insert into failed_attachments (email_id, project_id, bytes)
        select q.email_id, q.project_id, q.bytes from email_queue q join emails e on e.id = q.email_id
        where q.email_id = any (kept_ids) and e.id = any (kept_ids) and e.status = 'FAILED'
        on conflict (email_id) do nothing;
    end if;
    delete from email_queue q where q.email_id = any (ids)
      and (q.claim_id = claim.id or q.email_id = any (sent_ids));
    update email_queue q set
      due_at = clock_timestamp() + r.delay_ms * interval '1 millisecond',
      claim_id = case when r.is_unconfirmed then q.claim_id end, claimed_at = case when r.is_unconfirmed then q.claimed_at end,
      lookups = case when r.is_unconfirmed then q.lookups + 1 else 0 end,
      attempts = q.attempts + r.attempts, last_refusal = coalesce(r.refusal, q.last_refusal)
    from unnest(returned) r
    where q.email_id = any (array(select r.id from unnest(returned) r)) and q.email_id = r.id and q.claim_id = claim.id;
  else
    update campaign_claims k set
      settled = cardinality(returned) = 0, holder = null,
      due_at = clock_timestamp() + coalesce((returned[1]).delay_ms, 0) * interval '1 millisecond',
      handed_at = case when (returned[1]).is_unconfirmed then k.handed_at end,
      attempts = k.attempts + coalesce((returned[1]).attempts, 0)
    where k.id = claim.id and k.holder = claim.holder and not k.settled;
  end if;

  perform record_events(happened);

  if sent + skipped + failed < cardinality(ids) then
    with reopened as (
      update emails e set status = 'PENDING', reason = null
      where e.id = any (sent_ids)
        and (is_queued or e.campaign_id is not distinct from claim.campaign and e.send_seq = claim.seq)
        and e.sent_at is null and e.status = 'FAILED' and e.message_id is null
      returning e.project_id, e.created_at, e.source_type, e.message_class, e.simulated),
    quota_taken as (
      update usage_counters u set failed = greatest(0, u.failed - r.mails)
      from (
        select project_id, date_trunc('month', created_at at time zone 'UTC')::date as month,
          case when source_type in ('CAMPAIGN', 'WORKFLOW') and message_class = 'TRANSACTIONAL' then 'TRANSACTIONAL'
            else source_type end as category, count(*) as mails
        from reopened group by 1, 2, 3) r
      where u.project_id = any (array(select project_id from reopened)) and u.project_id = r.project_id and u.month = r.month
        and u.category = r.category)
    insert into mail_count_changes (project_id, hour, rated)
      select r.project_id, date_bin('1 hour', r.created_at, timestamptz 'epoch'), sum(now.rated - was.rated)
      from reopened r cross join lateral mail_counts_of(r.source_type, 'FAILED', r.simulated) was
        cross join lateral mail_counts_of(r.source_type, 'PENDING', r.simulated) now
      group by 1, 2;
    if found then
      select * into again from settle_mail(claim => claim, verdicts => verdicts, returned => '{}');
      sent := sent + again.sent;
    end if;
  end if;
  return next;
end
$function$;

CREATE OR REPLACE FUNCTION take_wakes(most integer, lease_ms double precision)
 RETURNS TABLE(id uuid, workflow_id text, payload jsonb, attempts integer)
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
 SET jit TO 'off'
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET enable_nestloop TO 'on'
AS $function$
#variable_conflict use_column
begin
  return query with recursive place (automation) as (
      (select substr(o.workflow_id, 12, 36) collate "C" from outbox o
       where o.done_at is null and o.kind in ('signal', 'cancel') and o.workflow_id like 'automation/%'
       order by 1 limit 1)
      union all
      select (
        select substr(o.workflow_id, 12, 36) collate "C" from outbox o
        where o.done_at is null and o.kind in ('signal', 'cancel') and o.workflow_id like 'automation/%'
          and substr(o.workflow_id, 12, 36) collate "C" > place.automation
        order by 1 limit 1)
      from place where place.automation is not null),
    head as (
      select place.automation, oldest.at, (
          select a.project_id from automations a where a.id = case
            when place.automation ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then place.automation::uuid end) as project
      from place cross join lateral (
        select o.next_attempt_at as at from outbox o
        where o.done_at is null and o.kind in ('signal', 'cancel') and o.workflow_id like 'automation/%'
          and substr(o.workflow_id, 12, 36) collate "C" = place.automation and o.next_attempt_at <= now()::timestamptz(3)
          and (
            select 1 from outbox e
            where e.done_at is null and e.workflow_id = o.workflow_id and e.id <> o.id and (e.kind = 'start' or e.id < o.id)
            limit 1) is null
        order by o.next_attempt_at, o.id limit 1) oldest),
    chosen as (
      select automation, project from (
        select automation, project, at, row_number() over (partition by project order by at, automation) as n from head) ranked
      order by n, at limit most),
    share as (
      select automation, greatest(1, most / (select count(distinct coalesce(project::text, '')) from chosen)
        / count(*) over (partition by project)) as calls
      from chosen),
    due as (
      select taken.id from share cross join lateral (
        select o.id from outbox o
        where o.done_at is null and o.kind in ('signal', 'cancel') and o.workflow_id like 'automation/%'
          and substr(o.workflow_id, 12, 36) collate "C" = share.automation and o.next_attempt_at <= now()::timestamptz(3)
          and (
            select 1 from outbox e
            where e.done_at is null and e.workflow_id = o.workflow_id and e.id <> o.id and (e.kind = 'start' or e.id < o.id)
            limit 1) is null
        order by o.next_attempt_at, o.id limit share.calls for update of o skip locked) taken)
    update outbox o set next_attempt_at = clock_timestamp() + make_interval(secs => lease_ms / 1000)
    where o.id = any (array(select due.id from due))
    returning o.id, o.workflow_id, o.payload, o.attempts;
end
$function$;

CREATE OR REPLACE FUNCTION uncount_deleted_events()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  counted timestamptz;
  copied uuid;
begin
  if not exists (select from went) then
    return null;
  end if;
  perform pg_advisory_xact_lock_shared(hashtextextended('event counts', 0));
  select counted_through, copied_before into counted, copied from event_counts_state;
  if copied is not null then
    insert into events_touched (id) select went.id from went where went.id < copied;
  end if;
  insert into event_counts (project_id, name, day, events)
    select went.project_id, went.name, (went.created_at at time zone 'UTC')::date, -count(*)
    from went
    where went.created_at < counted and exists (select from projects p where p.id = went.project_id)
    group by 1, 2, 3;
  insert into activity_counts (project_id, kind, hour, items)
    select went.project_id, item.kind, date_bin('1 hour', item.at, timestamptz 'epoch'), -count(*)
    from went, lateral (
      select '' as kind, went.created_at as at
      union all select went.name, went.mail_at where went.mail_at is not null) item
    where went.created_at < counted and exists (select from projects p where p.id = went.project_id)
    group by 1, 2, 3;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION uncount_deleted_mail()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into mail_count_changes (project_id, hour, outgoing, incoming, delivered, opened, clicked, bounced, rated, rated_bounced, rated_complained)
    select m.project_id, date_bin('1 hour', m.created_at, timestamptz 'epoch'), -sum(c.outgoing), -sum(c.incoming), -sum(c.delivered),
      -sum(c.opened), -sum(c.clicked), -sum(c.bounced), -sum(c.rated), -sum(c.rated_bounced), -sum(c.rated_complained)
    from went m cross join lateral mail_counts_of(m.source_type, m.status, m.simulated, m.delivered_at, m.opened_at, m.clicked_at,
      m.bounced_at, m.complained_at) c
    group by 1, 2 having sum(c.outgoing) + sum(c.incoming) > 0;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION write_contacts(project uuid, given jsonb, cause text, limited_by uuid, subscribed_when_new boolean, waits boolean, restores boolean)
 RETURNS TABLE(id uuid, email text, subscribed boolean, data jsonb, project_id uuid, created_at timestamp with time zone, updated_at timestamp with time zone, is_new boolean, changed boolean, flipped boolean)
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
 SET jit TO 'off'
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET enable_material TO 'off'
AS $function$
#variable_conflict use_column
declare
  wanted integer := coalesce(jsonb_array_length(given), 0);
  creates boolean := subscribed_when_new is not null;
  by_id boolean := given -> 0 ? 'id';
  -- A single contact is looked for first, as most exist.
  inserts boolean := creates and (wanted > 1 or restores);
  created integer := 0;
  inserted integer;
  held uuid[];
  asked jsonb[];
  changes boolean;
  flips boolean;
begin
  -- Contacts that are named by `id` are locked in the order of their addresses too.
  if by_id and wanted > 1 then
    select jsonb_agg(g.item order by (select email from contacts where id = (g.item ->> 'id')::uuid and project_id = project)) into given
    from jsonb_array_elements(given) as g (item);
  end if;
  for attempt in 1..10 loop
    if inserts then
      -- 1. New contacts, with their data within its limits, and the first row of their history, by which the catalogue counts them too.
      return query with came as (
        insert into contacts (id, project_id, email, subscribed, data, created_at)
        select i.id, project, i.email, i.subscribed, case when i.subscribed then i.set || i.consent else i.set end, i.created_at
        from (
          select (g.item ->> 'newId')::uuid, g.item ->> 'email', coalesce((g.item ->> 'subscribed')::boolean, subscribed_when_new),
            coalesce(g.item -> 'set', '{}'), coalesce(g.item -> 'consent', '{}'), coalesce((g.item ->> 'createdAt')::timestamptz, date_trunc('milliseconds', now()))
          from jsonb_array_elements(given) as g (item)) as i (id, email, subscribed, set, consent, created_at)
        where not exists (select from contacts c where c.project_id = project and c.email = i.email offset 0)
        order by i.email
        on conflict do nothing
        returning id, email, subscribed, data, created_at, updated_at),
      noted as (
        insert into contact_changes (project_id, data, subscribed, sign, contact_id, at, cause, limited_by)
        select project, data, subscribed, 1, case when not restores then id end, clock_timestamp(), cause, limited_by
        from came
        where restores or pg_column_size(data) <= 8000 and not exists (select from full_catalogues where project_id = project)
          or contact_data_fits(project, null, data)),
      -- New contacts start the workflows with that trigger, those of an import only where it says so.
      listening as materialized (
        select id from automations
        where project_id = project and trigger_type = 'CONTACT_CREATED' and enabled and not restores
          and (cause not like 'import-%' or trigger_config -> 'imports' = 'true')),
      started as (
        insert into automation_arrivals (automation_id, project_id, contact_id, event_id, limited_by)
        select listening.id, project, came.id, came.id, limited_by from listening cross join came
        on conflict (automation_id, event_id) do nothing
        returning pg_notify('fernpost_arrivals', ''))
      select id, email, subscribed, data, project, created_at, updated_at, true, true, false from came;
      get diagnostics inserted = row_count;
      created := created + inserted;
      if restores or created = wanted then
        return;
      end if;
    end if;

    -- 2. Finds the contacts that existed already and locks them; whether anything changes is decided by what they are then.
    if by_id then
      select coalesce(array_agg(c.id), '{}'), array_agg(k.item), bool_or(w.subscribed <> c.subscribed),
        bool_or(w.data <> c.data or w.subscribed <> c.subscribed or w.email <> c.email)
      into held, asked, flips, changes
      from jsonb_array_elements(given) as k (item)
      cross join lateral (
        select * from contacts where id = (k.item ->> 'id')::uuid and project_id = project
        for no key update) c
      cross join lateral contact_after(c.email, c.subscribed, c.data, k.item) w;
    elsif waits then
      select coalesce(array_agg(c.id), '{}'), array_agg(k.item), bool_or(w.subscribed <> c.subscribed),
        bool_or(w.data <> c.data or w.subscribed <> c.subscribed or w.email <> c.email)
      into held, asked, flips, changes
      from (select g.item from jsonb_array_elements(given) as g (item) order by g.item ->> 'email' offset 0) k
      cross join lateral (
        select * from contacts
        where project_id = project and email = k.item ->> 'email' and id is distinct from (k.item ->> 'newId')::uuid
        for no key update) c
      cross join lateral contact_after(c.email, c.subscribed, c.data, k.item) w;
    else
      -- Of those that stay as they are nothing more is asked, and they only have to stay: callers for one contact do not keep each other off.
      select coalesce(array_agg(c.id), '{}'), array_agg(case when k.changes then k.item else '{}' end), bool_or(k.flips), bool_or(k.changes)
      into held, asked, flips, changes
      from (
        select g.item, c.id, w.subscribed <> c.subscribed as flips,
          w.data <> c.data or w.subscribed <> c.subscribed or w.email <> c.email as changes
        from jsonb_array_elements(given) as g (item)
        cross join lateral (
          select * from contacts
          where project_id = project and email = g.item ->> 'email' and id is distinct from (g.item ->> 'newId')::uuid
          offset 0) c
        cross join lateral contact_after(c.email, c.subscribed, c.data, g.item) w
        offset 0) k
      left join lateral (select id from contacts where id = k.id and not k.changes for key share skip locked) s on true
      left join lateral (select id from contacts where id = k.id and k.changes for no key update skip locked) u on true
      cross join lateral (select coalesce(s.id, u.id) as id) c
      where c.id is not null;
    end if;
    -- Another transaction may have inserted a contact, or deleted one, since it was looked for.
    exit when not creates or created + cardinality(held) = wanted or inserts and not waits;
    inserts := creates;
    if attempt = 10 then
      raise exception 'contacts could neither be written nor read' using errcode = 'serialization_failure';
    end if;
  end loop;

  -- 3. Flips of subscriptions are events, which start and wake workflows (record_events).
  if flips then
    perform record_events(array(
      select row(coalesce((g.item ->> 'flipId')::uuid, uuidv7()), project, g.id, (g.item ->> 'flipEmailId')::uuid,
        case when w.subscribed then 'contact.subscribed' else 'contact.unsubscribed' end, g.item -> 'flipData', null, limited_by)::new_event
      from unnest(held, asked) as g (id, item)
      join contacts c on c.id = g.id
      cross join lateral contact_after(c.email, c.subscribed, c.data, g.item) w
      where w.subscribed <> c.subscribed));
  end if;

  -- 4. Changes, with the data within its limits, and a row of the history for each.
  if changes then
    return query with written as materialized (
      select c.id, c.email as email_before, c.subscribed as subscribed_before, c.data as data_before, c.created_at, c.updated_at,
        w.email, w.subscribed, w.data, w.data <> c.data or w.subscribed <> c.subscribed or w.email <> c.email as changes
      from unnest(held, asked) as g (id, item)
      join contacts c on c.id = g.id
      cross join lateral contact_after(c.email, c.subscribed, c.data, g.item) w),
    changed as (
      update contacts c set email = w.email, subscribed = w.subscribed, data = w.data, updated_at = now()
      from written w where c.id = w.id and w.changes),
    noted as (
      insert into contact_changes (project_id, data, subscribed, sign, contact_id, at, cause, limited_by, before, after,
        subscribed_before, email_before, email_after)
      select project, 'null', subscribed, 0, id, clock_timestamp(), cause, limited_by, data_before, data,
        subscribed_before, nullif(email_before, email), nullif(email, email_before)
      from written
      where changes and (restores or pg_column_size(data) <= 8000 and not exists (select from full_catalogues where project_id = project)
        or contact_data_fits(project, data_before, data))),
    -- 5. Executions that wait until a date of the contact, or a time in its zone, wait until another instant by now.
    woken as (
      insert into outbox (id, dedupe_key, kind, workflow_id, payload)
      select x.id, 'signal:' || x.execution || ':' || x.id, 'signal', x.execution,
        jsonb_build_object('type', 'signal', 'id', x.execution, 'signal', 'resume', 'input', jsonb_build_object('seq', x.seq))
      from written w cross join lateral (
        select uuidv7() as id, 'automation/' || r.automation_id || '/' || r.contact_id || '/' || r.entry as execution, r.seq
        from automation_step_runs s join automation_runs r on r.id = s.run_id
        where s.contact_id = w.id and s.step_type = 'WAIT_UNTIL' and s.status = 'SCHEDULED'
          and (w.data_before -> 'timezone' is distinct from w.data -> 'timezone'
            or exists (
              select from regexp_replace(s.input ->> 'field', '^(contact[.])?data[.]', '') as f (key)
              where w.data_before -> f.key is distinct from w.data -> f.key
                or w.data_before -> split_part(f.key, '.', 1) is distinct from w.data -> split_part(f.key, '.', 1)))
        offset 0) x
      where w.changes
      returning pg_notify('fernpost_outbox', ''))
    select w.id, w.email, w.subscribed, w.data, project, w.created_at,
      case when w.changes then now()::timestamptz(3) else w.updated_at end,
      false, w.changes, w.subscribed <> w.subscribed_before
    from written w;
  else
    return query select c.id, c.email, c.subscribed, c.data, project, c.created_at, c.updated_at, false, false, false
    from contacts c where c.id = any (held);
  end if;
end
$function$;
