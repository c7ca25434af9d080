import { Migration20261121000000_foundation } from './Migration20261121000000_foundation.ts';
import { Migration20261121000100_audience } from './Migration20261121000100_audience.ts';
import { Migration20261121000200_segments } from './Migration20261121000200_segments.ts';
import { Migration20261121000300_history } from './Migration20261121000300_history.ts';
import { Migration20261121000400_campaigns } from './Migration20261121000400_campaigns.ts';
import { Migration20261121000500_handovers } from './Migration20261121000500_handovers.ts';
import { Migration20261121000600_recipient_visits } from './Migration20261121000600_recipient_visits.ts';
import { Migration20261121000700_automations } from './Migration20261121000700_automations.ts';
import { Migration20261121000701_automation_ways } from './Migration20261121000701_automation_ways.ts';
import { Migration20261121000702_automation_moves } from './Migration20261121000702_automation_moves.ts';
import { Migration20261121000750_routing } from './Migration20261121000750_routing.ts';
import { Migration20261121000751_routing_look } from './Migration20261121000751_routing_look.ts';
import { Migration20261121000800_accounts } from './Migration20261121000800_accounts.ts';
import { Migration20261121000801_wipes } from './Migration20261121000801_wipes.ts';
import { Migration20261121000900_usage } from './Migration20261121000900_usage.ts';
import { Migration20261121000901_domains } from './Migration20261121000901_domains.ts';
import { Migration20261121001000_analytics } from './Migration20261121001000_analytics.ts';
import { Migration20261121001001_run_counts } from './Migration20261121001001_run_counts.ts';
import { Migration20261121001100_automation_revisions } from './Migration20261121001100_automation_revisions.ts';
import { Migration20261121001101_automation_passages } from './Migration20261121001101_automation_passages.ts';
import { Migration20261121001110_contact_feed } from './Migration20261121001110_contact_feed.ts';
import { Migration20261121001111_uploads } from './Migration20261121001111_uploads.ts';
import { Migration20261121001120_wakes } from './Migration20261121001120_wakes.ts';
import { Migration20261121001200_ledger_writes } from './Migration20261121001200_ledger_writes.ts';
import { Migration20261121001201_contact_sendings } from './Migration20261121001201_contact_sendings.ts';
import { Migration20261121001202_settle_claim } from './Migration20261121001202_settle_claim.ts';
import { Migration20261121001203_counted_pages } from './Migration20261121001203_counted_pages.ts';
import { Migration20261122000100_contact_data_limits } from './Migration20261122000100_contact_data_limits.ts';
import { Migration20261122000300_sessions_and_keys } from './Migration20261122000300_sessions_and_keys.ts';
import { Migration20261122000400_failed_mail } from './Migration20261122000400_failed_mail.ts';
import { Migration20261122000500_recovery } from './Migration20261122000500_recovery.ts';
import { Migration20261122001100_functions } from './Migration20261122001100_functions.ts';
import { Migration20261122001200_queued_bytes } from './Migration20261122001200_queued_bytes.ts';
import { Migration20261122002000_mail_reasons } from './Migration20261122002000_mail_reasons.ts';
import { Migration20261122004000_content_revisions } from './Migration20261122004000_content_revisions.ts';
import { Migration20261122004001_email_documents } from './Migration20261122004001_email_documents.ts';
import { Migration20261122007000_webhook_endpoints } from './Migration20261122007000_webhook_endpoints.ts';
import { Migration20261122008000_api_keys } from './Migration20261122008000_api_keys.ts';
import { Migration20261122008001_audit_log } from './Migration20261122008001_audit_log.ts';
import { Migration20261122009000_smtp_in } from './Migration20261122009000_smtp_in.ts';
import { Migration20261122009500_email_tags } from './Migration20261122009500_email_tags.ts';
import { Migration20261122009501_scheduled_mail } from './Migration20261122009501_scheduled_mail.ts';
import { Migration20261122011000_contact_history } from './Migration20261122011000_contact_history.ts';
import { Migration20261122011001_contacts_trash } from './Migration20261122011001_contacts_trash.ts';
import { Migration20261122012000_email_resends } from './Migration20261122012000_email_resends.ts';
import { Migration20261122012001_replayed_answers } from './Migration20261122012001_replayed_answers.ts';
import { Migration20261122013000_content_versions } from './Migration20261122013000_content_versions.ts';
import { Migration20261122013001_saved_blocks } from './Migration20261122013001_saved_blocks.ts';
import { Migration20261122014000_mcp_plans } from './Migration20261122014000_mcp_plans.ts';
import { Migration20261122015000_explained_enrollments } from './Migration20261122015000_explained_enrollments.ts';
import { Migration20261122020000_dry_runs } from './Migration20261122020000_dry_runs.ts';
import { Migration20261122020100_unapproved_sends } from './Migration20261122020100_unapproved_sends.ts';
import { Migration20261122021000_campaign_canaries } from './Migration20261122021000_campaign_canaries.ts';
import { Migration20261122022000_erasures } from './Migration20261122022000_erasures.ts';
import { Migration20261122023000_bulk_trash } from './Migration20261122023000_bulk_trash.ts';
import { Migration20261122024000_refused_plans } from './Migration20261122024000_refused_plans.ts';
import { Migration20261122025000_contact_views } from './Migration20261122025000_contact_views.ts';
import { Migration20261122026000_campaign_results } from './Migration20261122026000_campaign_results.ts';
import { Migration20261122030000_invitations_and_sessions } from './Migration20261122030000_invitations_and_sessions.ts';
import { Migration20261122031000_content_versions_of_sends } from './Migration20261122031000_content_versions_of_sends.ts';
import { Migration20261122032000_smtp_clients } from './Migration20261122032000_smtp_clients.ts';
import { Migration20261122034000_trash_without_job } from './Migration20261122034000_trash_without_job.ts';
import { Migration20261122036000_campaigns_sending } from './Migration20261122036000_campaigns_sending.ts';
import { Migration20261123010000_history_of_jobs } from './Migration20261123010000_history_of_jobs.ts';
import { Migration20261123010001_contacts_unsubscribed } from './Migration20261123010001_contacts_unsubscribed.ts';
import { Migration20261123020000_dry_run_samples } from './Migration20261123020000_dry_run_samples.ts';
import { Migration20261123030000_failed_attachments } from './Migration20261123030000_failed_attachments.ts';
import { Migration20261123060000_email_lists } from './Migration20261123060000_email_lists.ts';
import { Migration20261123064000_step_notes } from './Migration20261123064000_step_notes.ts';
import { Migration20261123064100_reached_steps } from './Migration20261123064100_reached_steps.ts';
import { Migration20261123065000_dry_run_rows } from './Migration20261123065000_dry_run_rows.ts';
import { Migration20261123070000_last_refusal } from './Migration20261123070000_last_refusal.ts';
import { Migration20261124050000_test_addresses } from './Migration20261124050000_test_addresses.ts';
import { Migration20261124090000_webhook_audits } from './Migration20261124090000_webhook_audits.ts';
import { Migration20261124091000_reconciler_seen } from './Migration20261124091000_reconciler_seen.ts';
import { Migration20261124095000_public_key_mode } from './Migration20261124095000_public_key_mode.ts';
import { Migration20261124095100_plan_facts } from './Migration20261124095100_plan_facts.ts';
import { Migration20261124101000_strangers } from './Migration20261124101000_strangers.ts';
import { Migration20261124102000_key_limits } from './Migration20261124102000_key_limits.ts';
import { Migration20261124120000_record_events } from './Migration20261124120000_record_events.ts';
import { Migration20261124121000_written_events } from './Migration20261124121000_written_events.ts';
import { Migration20261124123000_write_contacts } from './Migration20261124123000_write_contacts.ts';
import { Migration20261124130000_accept_mail } from './Migration20261124130000_accept_mail.ts';
import { Migration20261124131000_counted_changes } from './Migration20261124131000_counted_changes.ts';
import { Migration20261124132000_counted_runs } from './Migration20261124132000_counted_runs.ts';
import { Migration20261124133000_limited_changes } from './Migration20261124133000_limited_changes.ts';
import { Migration20261124140000_settle_mail } from './Migration20261124140000_settle_mail.ts';
import { Migration20261124190000_limited_mail } from './Migration20261124190000_limited_mail.ts';
import { Migration20261128060000_tenant_indexes } from './Migration20261128060000_tenant_indexes.ts';
import { Migration20261128070000_restores } from './Migration20261128070000_restores.ts';
import { Migration20261128080000_mail_traces } from './Migration20261128080000_mail_traces.ts';
import { Migration20261128093000_retention } from './Migration20261128093000_retention.ts';
import { Migration20261128110000_run_retention } from './Migration20261128110000_run_retention.ts';
import { Migration20261128190000_split_step } from './Migration20261128190000_split_step.ts';
import { Migration20261128191000_retried_runs } from './Migration20261128191000_retried_runs.ts';
import { Migration20261128192000_tested_waits } from './Migration20261128192000_tested_waits.ts';
import { Migration20261128193000_wait_until_step } from './Migration20261128193000_wait_until_step.ts';
import { Migration20261128194000_paused_workflows } from './Migration20261128194000_paused_workflows.ts';
import { Migration20261128195000_exits } from './Migration20261128195000_exits.ts';
import { Migration20261128203000_project_time_zone } from './Migration20261128203000_project_time_zone.ts';
import { Migration20261129011500_contact_created } from './Migration20261129011500_contact_created.ts';
import { Migration20261129013500_project_retention } from './Migration20261129013500_project_retention.ts';
import { Migration20261129014000_holdout } from './Migration20261129014000_holdout.ts';
import { Migration20261129015000_goals } from './Migration20261129015000_goals.ts';
import { Migration20261129020000_date_triggers } from './Migration20261129020000_date_triggers.ts';
import { Migration20261129022500_rollouts } from './Migration20261129022500_rollouts.ts';
import { Migration20261129053100_goals_by_entry } from './Migration20261129053100_goals_by_entry.ts';
import { Migration20261129063100_quiet_hours } from './Migration20261129063100_quiet_hours.ts';
import { Migration20261129083500_watched_waits } from './Migration20261129083500_watched_waits.ts';
import { Migration20261129084000_held_contacts } from './Migration20261129084000_held_contacts.ts';
import { Migration20261129093000_arrivals_without_context } from './Migration20261129093000_arrivals_without_context.ts';
import { Migration20261129100000_simulations } from './Migration20261129100000_simulations.ts';
import { Migration20261129114000_quiet_changes } from './Migration20261129114000_quiet_changes.ts';
import { Migration20261129151500_turns } from './Migration20261129151500_turns.ts';
import { Migration20261129162000_event_parts } from './Migration20261129162000_event_parts.ts';
import { Migration20261129181500_fair_wakes } from './Migration20261129181500_fair_wakes.ts';

/** Every migration in the order it runs. A released one is never edited; a change of the schema is a new one. Functions have files of their own. */
export const migrations = [
  { name: 'Migration20261121000000_foundation', class: Migration20261121000000_foundation },
  { name: 'Migration20261121000100_audience', class: Migration20261121000100_audience },
  { name: 'Migration20261121000200_segments', class: Migration20261121000200_segments },
  { name: 'Migration20261121000300_history', class: Migration20261121000300_history },
  { name: 'Migration20261121000400_campaigns', class: Migration20261121000400_campaigns },
  { name: 'Migration20261121000500_handovers', class: Migration20261121000500_handovers },
  { name: 'Migration20261121000600_recipient_visits', class: Migration20261121000600_recipient_visits },
  { name: 'Migration20261121000700_automations', class: Migration20261121000700_automations },
  { name: 'Migration20261121000701_automation_ways', class: Migration20261121000701_automation_ways },
  { name: 'Migration20261121000702_automation_moves', class: Migration20261121000702_automation_moves },
  { name: 'Migration20261121000750_routing', class: Migration20261121000750_routing },
  { name: 'Migration20261121000751_routing_look', class: Migration20261121000751_routing_look },
  { name: 'Migration20261121000800_accounts', class: Migration20261121000800_accounts },
  { name: 'Migration20261121000801_wipes', class: Migration20261121000801_wipes },
  { name: 'Migration20261121000900_usage', class: Migration20261121000900_usage },
  { name: 'Migration20261121000901_domains', class: Migration20261121000901_domains },
  { name: 'Migration20261121001000_analytics', class: Migration20261121001000_analytics },
  { name: 'Migration20261121001001_run_counts', class: Migration20261121001001_run_counts },
  { name: 'Migration20261121001100_automation_revisions', class: Migration20261121001100_automation_revisions },
  { name: 'Migration20261121001101_automation_passages', class: Migration20261121001101_automation_passages },
  { name: 'Migration20261121001110_contact_feed', class: Migration20261121001110_contact_feed },
  { name: 'Migration20261121001111_uploads', class: Migration20261121001111_uploads },
  { name: 'Migration20261121001120_wakes', class: Migration20261121001120_wakes },
  { name: 'Migration20261121001200_ledger_writes', class: Migration20261121001200_ledger_writes },
  { name: 'Migration20261121001201_contact_sendings', class: Migration20261121001201_contact_sendings },
  { name: 'Migration20261121001202_settle_claim', class: Migration20261121001202_settle_claim },
  { name: 'Migration20261121001203_counted_pages', class: Migration20261121001203_counted_pages },
  { name: 'Migration20261122000100_contact_data_limits', class: Migration20261122000100_contact_data_limits },
  { name: 'Migration20261122000300_sessions_and_keys', class: Migration20261122000300_sessions_and_keys },
  { name: 'Migration20261122000400_failed_mail', class: Migration20261122000400_failed_mail },
  { name: 'Migration20261122000500_recovery', class: Migration20261122000500_recovery },
  { name: 'Migration20261122001100_functions', class: Migration20261122001100_functions },
  { name: 'Migration20261122001200_queued_bytes', class: Migration20261122001200_queued_bytes },
  { name: 'Migration20261122002000_mail_reasons', class: Migration20261122002000_mail_reasons },
  { name: 'Migration20261122004000_content_revisions', class: Migration20261122004000_content_revisions },
  { name: 'Migration20261122004001_email_documents', class: Migration20261122004001_email_documents },
  { name: 'Migration20261122007000_webhook_endpoints', class: Migration20261122007000_webhook_endpoints },
  { name: 'Migration20261122008000_api_keys', class: Migration20261122008000_api_keys },
  { name: 'Migration20261122008001_audit_log', class: Migration20261122008001_audit_log },
  { name: 'Migration20261122009000_smtp_in', class: Migration20261122009000_smtp_in },
  { name: 'Migration20261122009500_email_tags', class: Migration20261122009500_email_tags },
  { name: 'Migration20261122009501_scheduled_mail', class: Migration20261122009501_scheduled_mail },
  { name: 'Migration20261122011000_contact_history', class: Migration20261122011000_contact_history },
  { name: 'Migration20261122011001_contacts_trash', class: Migration20261122011001_contacts_trash },
  { name: 'Migration20261122012000_email_resends', class: Migration20261122012000_email_resends },
  { name: 'Migration20261122012001_replayed_answers', class: Migration20261122012001_replayed_answers },
  { name: 'Migration20261122013000_content_versions', class: Migration20261122013000_content_versions },
  { name: 'Migration20261122013001_saved_blocks', class: Migration20261122013001_saved_blocks },
  { name: 'Migration20261122014000_mcp_plans', class: Migration20261122014000_mcp_plans },
  { name: 'Migration20261122015000_explained_enrollments', class: Migration20261122015000_explained_enrollments },
  { name: 'Migration20261122020000_dry_runs', class: Migration20261122020000_dry_runs },
  { name: 'Migration20261122020100_unapproved_sends', class: Migration20261122020100_unapproved_sends },
  { name: 'Migration20261122021000_campaign_canaries', class: Migration20261122021000_campaign_canaries },
  { name: 'Migration20261122022000_erasures', class: Migration20261122022000_erasures },
  { name: 'Migration20261122023000_bulk_trash', class: Migration20261122023000_bulk_trash },
  { name: 'Migration20261122024000_refused_plans', class: Migration20261122024000_refused_plans },
  { name: 'Migration20261122025000_contact_views', class: Migration20261122025000_contact_views },
  { name: 'Migration20261122026000_campaign_results', class: Migration20261122026000_campaign_results },
  { name: 'Migration20261122030000_invitations_and_sessions', class: Migration20261122030000_invitations_and_sessions },
  {
    name: 'Migration20261122031000_content_versions_of_sends',
    class: Migration20261122031000_content_versions_of_sends,
  },
  { name: 'Migration20261122032000_smtp_clients', class: Migration20261122032000_smtp_clients },
  { name: 'Migration20261122034000_trash_without_job', class: Migration20261122034000_trash_without_job },
  { name: 'Migration20261122036000_campaigns_sending', class: Migration20261122036000_campaigns_sending },
  { name: 'Migration20261123010000_history_of_jobs', class: Migration20261123010000_history_of_jobs },
  { name: 'Migration20261123010001_contacts_unsubscribed', class: Migration20261123010001_contacts_unsubscribed },
  { name: 'Migration20261123020000_dry_run_samples', class: Migration20261123020000_dry_run_samples },
  { name: 'Migration20261123030000_failed_attachments', class: Migration20261123030000_failed_attachments },
  { name: 'Migration20261123060000_email_lists', class: Migration20261123060000_email_lists },
  { name: 'Migration20261123064000_step_notes', class: Migration20261123064000_step_notes },
  { name: 'Migration20261123064100_reached_steps', class: Migration20261123064100_reached_steps },
  { name: 'Migration20261123065000_dry_run_rows', class: Migration20261123065000_dry_run_rows },
  { name: 'Migration20261123070000_last_refusal', class: Migration20261123070000_last_refusal },
  { name: 'Migration20261124050000_test_addresses', class: Migration20261124050000_test_addresses },
  { name: 'Migration20261124090000_webhook_audits', class: Migration20261124090000_webhook_audits },
  { name: 'Migration20261124091000_reconciler_seen', class: Migration20261124091000_reconciler_seen },
  { name: 'Migration20261124095000_public_key_mode', class: Migration20261124095000_public_key_mode },
  { name: 'Migration20261124095100_plan_facts', class: Migration20261124095100_plan_facts },
  { name: 'Migration20261124101000_strangers', class: Migration20261124101000_strangers },
  { name: 'Migration20261124102000_key_limits', class: Migration20261124102000_key_limits },
  {
    name: 'Migration20261124120000_record_events',
    class: Migration20261124120000_record_events,
    isExclusive: true,
  },
  { name: 'Migration20261124121000_written_events', class: Migration20261124121000_written_events },
  {
    name: 'Migration20261124123000_write_contacts',
    class: Migration20261124123000_write_contacts,
    isExclusive: true,
  },
  {
    name: 'Migration20261124130000_accept_mail',
    class: Migration20261124130000_accept_mail,
    isExclusive: true,
  },
  {
    name: 'Migration20261124131000_counted_changes',
    class: Migration20261124131000_counted_changes,
    isExclusive: true,
  },
  {
    name: 'Migration20261124132000_counted_runs',
    class: Migration20261124132000_counted_runs,
    isExclusive: true,
  },
  { name: 'Migration20261124133000_limited_changes', class: Migration20261124133000_limited_changes },
  {
    name: 'Migration20261124140000_settle_mail',
    class: Migration20261124140000_settle_mail,
    isExclusive: true,
  },
  { name: 'Migration20261124190000_limited_mail', class: Migration20261124190000_limited_mail },
  { name: 'Migration20261128060000_tenant_indexes', class: Migration20261128060000_tenant_indexes },
  { name: 'Migration20261128070000_restores', class: Migration20261128070000_restores },
  { name: 'Migration20261128080000_mail_traces', class: Migration20261128080000_mail_traces },
  { name: 'Migration20261128093000_retention', class: Migration20261128093000_retention },
  { name: 'Migration20261128110000_run_retention', class: Migration20261128110000_run_retention },
  { name: 'Migration20261128190000_split_step', class: Migration20261128190000_split_step },
  { name: 'Migration20261128191000_retried_runs', class: Migration20261128191000_retried_runs },
  { name: 'Migration20261128192000_tested_waits', class: Migration20261128192000_tested_waits },
  { name: 'Migration20261128193000_wait_until_step', class: Migration20261128193000_wait_until_step },
  { name: 'Migration20261128194000_paused_workflows', class: Migration20261128194000_paused_workflows },
  { name: 'Migration20261128195000_exits', class: Migration20261128195000_exits },
  { name: 'Migration20261128203000_project_time_zone', class: Migration20261128203000_project_time_zone },
  { name: 'Migration20261129011500_contact_created', class: Migration20261129011500_contact_created },
  { name: 'Migration20261129013500_project_retention', class: Migration20261129013500_project_retention },
  { name: 'Migration20261129014000_holdout', class: Migration20261129014000_holdout },
  { name: 'Migration20261129015000_goals', class: Migration20261129015000_goals },
  { name: 'Migration20261129020000_date_triggers', class: Migration20261129020000_date_triggers },
  { name: 'Migration20261129022500_rollouts', class: Migration20261129022500_rollouts },
  { name: 'Migration20261129053100_goals_by_entry', class: Migration20261129053100_goals_by_entry },
  { name: 'Migration20261129063100_quiet_hours', class: Migration20261129063100_quiet_hours },
  {
    name: 'Migration20261129083500_watched_waits',
    class: Migration20261129083500_watched_waits,
    isExclusive: true,
  },
  { name: 'Migration20261129084000_held_contacts', class: Migration20261129084000_held_contacts },
  {
    name: 'Migration20261129093000_arrivals_without_context',
    class: Migration20261129093000_arrivals_without_context,
    isExclusive: true,
  },
  { name: 'Migration20261129100000_simulations', class: Migration20261129100000_simulations },
  { name: 'Migration20261129114000_quiet_changes', class: Migration20261129114000_quiet_changes },
  { name: 'Migration20261129151500_turns', class: Migration20261129151500_turns },
  { name: 'Migration20261129162000_event_parts', class: Migration20261129162000_event_parts },
  { name: 'Migration20261129181500_fair_wakes', class: Migration20261129181500_fair_wakes },
];
