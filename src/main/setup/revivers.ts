import { reviveAutomation } from '../../automations/runtime/recovery.ts';
import type { Revivers } from '../../core/outbox/dispatcher.ts';
import { reviveCampaign } from '../../sending/campaigns/lifecycle/recovery.ts';

/**
 * Who decides about an execution that a signal did not find, by the first part of its workflow id. A subject whose
 * signals travel through the outbox adds its own: `campaign` for `campaign/<id>/<seq>`.
 */
export const revivers: Revivers = { campaign: reviveCampaign, automation: reviveAutomation };
