import { defineEntity } from '@mikro-orm/core';

const p = defineEntity.properties;

/**
 * Requests of a visitor of the recipient pages in the current window. The table is unlogged: losing it in a crash resets
 * a limit.
 */
export const RecipientVisit = defineEntity({
  name: 'RecipientVisit',
  tableName: 'recipient_visits',
  properties: {
    visitor: p.text().primary(),
    startedAt: p.datetime(3),
    used: p.integer(),
  },
  indexes: [{ name: 'recipient_visits_started', properties: ['startedAt'] }],
});
