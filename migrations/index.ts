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

/** Every migration in the order it runs. A released one is never edited; a change of the schema is a new one. */
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
];
