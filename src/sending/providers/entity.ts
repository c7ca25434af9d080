import { defineEntity } from '@mikro-orm/core';

const p = defineEntity.properties;

/**
 * A message on its way to a provider that cannot be searched: a row before the first byte, the message id once the
 * provider took it.
 */
export const ProviderHandover = defineEntity({
  name: 'ProviderHandover',
  tableName: 'provider_handovers',
  properties: {
    claimId: p.text().primary(),
    emailId: p.uuid().primary(),
    messageId: p.text().nullable(),
    takenAt: p.datetime(3).nullable(),
    begunAt: p.datetime(3).defaultRaw('now()'),
  },
  indexes: [{ name: 'provider_handovers_age', properties: ['begunAt'] }],
});
