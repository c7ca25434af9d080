import { defineEntity } from '@mikro-orm/core';
import { baseColumns } from '../../core/database/columns.ts';

const p = defineEntity.properties;

const UserSchema = defineEntity({
  name: 'User',
  tableName: 'users',
  properties: {
    ...baseColumns,
    email: p.text(),
    passwordHash: p.text().nullable(),
    type: p.enum(['PASSWORD', 'GOOGLE_OAUTH', 'GITHUB_OAUTH'] as const).default('PASSWORD'),
    emailVerified: p.boolean().default(false),
    sessionVersion: p.integer().default(0),
  },
});

/** A person who signs in. */
export class User extends UserSchema.class {}
UserSchema.setClass(User);
