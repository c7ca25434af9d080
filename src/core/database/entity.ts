import { defineEntity } from '@mikro-orm/core';

const p = defineEntity.properties;

const InstalledFunctionSchema = defineEntity({
  name: 'InstalledFunction',
  tableName: 'database_functions',
  properties: {
    name: p.text().primary(),
    hash: p.text().primary(),
    installedAt: p.datetime().columnType('timestamptz').defaultRaw('clock_timestamp()'),
  },
});

/** A text of a function in `migrations/functions` that was installed, the newest being the current one. */
export class InstalledFunction extends InstalledFunctionSchema.class {}
InstalledFunctionSchema.setClass(InstalledFunction);
