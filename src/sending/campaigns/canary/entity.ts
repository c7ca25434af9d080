import { defineEntity } from '@mikro-orm/core';
import { baseColumns } from '../../../core/database/columns.ts';
import { CampaignSend } from '../entity.ts';
import type { CanaryCounts, CanaryStop, StopIf } from './decide.ts';
import { canaryStates } from './schema.ts';

const p = defineEntity.properties;

/** The first slice of a send, the limits that stop the campaign, and what came of it. Moved by `advance.ts` alone. */
export const CampaignCanary = defineEntity({
  name: 'CampaignCanary',
  tableName: 'campaign_canaries',
  properties: {
    send: p
      .manyToOne(CampaignSend)
      .joinColumns('campaign_id', 'send_seq')
      .mapToPk()
      .primary()
      .updateRule('no action')
      .deleteRule('cascade'),
    recipients: p.integer(),
    holdSeconds: p.integer(),
    stopIf: p.json<StopIf>(),
    minDelivered: p.integer(),
    state: p.enum(canaryStates).default('WAITING'),
    chosen: p.integer().nullable(),
    heldUntil: p.datetime(3).nullable(),
    releasedAt: p.datetime(3).nullable(),
    endedAt: p.datetime(3).nullable(),
    stopped: p.json<CanaryStop>().nullable(),
    counts: p.json<CanaryCounts>().nullable(),
    createdAt: baseColumns.createdAt,
    updatedAt: baseColumns.updatedAt,
  },
});

/** A member of the slice, until the canary has passed. */
export const CanaryContact = defineEntity({
  name: 'CanaryContact',
  tableName: 'campaign_canary_contacts',
  properties: {
    canary: p
      .manyToOne(CampaignCanary)
      .joinColumns('campaign_id', 'send_seq')
      .mapToPk()
      .primary()
      .updateRule('no action')
      .deleteRule('cascade'),
    contactId: p.uuid().primary(),
  },
});
