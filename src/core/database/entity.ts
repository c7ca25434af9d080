import { defineEntity } from '@mikro-orm/core';

const p = defineEntity.properties;

/** A text of a function in `migrations/functions` that was installed, the newest being the current one. */
export const InstalledFunction = defineEntity({
  name: 'InstalledFunction',
  tableName: 'database_functions',
  properties: {
    name: p.text().primary(),
    hash: p.text().primary(),
    installedAt: p.datetime().columnType('timestamptz').defaultRaw('clock_timestamp()'),
  },
});
