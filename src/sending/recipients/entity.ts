import { defineEntity } from '@mikro-orm/core';

const p = defineEntity.properties;

const RecipientVisitSchema = defineEntity({
  name: 'RecipientVisit',
  tableName: 'recipient_visits',
  properties: {
    visitor: p.text().primary(),
    startedAt: p.datetime(3),
    used: p.integer(),
  },
  indexes: [{ name: 'recipient_visits_started', properties: ['startedAt'] }],
});

/**
 * Requests of a visitor of the recipient pages in the current window. The table is unlogged: losing it in a crash resets
 * a limit.
 */
export class RecipientVisit extends RecipientVisitSchema.class {}
RecipientVisitSchema.setClass(RecipientVisit);
