import { defineEntity, type InferEntity } from '@mikro-orm/core';
import { baseColumns } from '../store/columns.ts';

const p = defineEntity.properties;

/** A person who signs in. */
export const User = defineEntity({
  name: 'User',
  tableName: 'users',
  properties: {
    ...baseColumns,
    email: p.text().unique(),
    passwordHash: p.text().nullable(),
    type: p.enum(['PASSWORD', 'GOOGLE_OAUTH', 'GITHUB_OAUTH'] as const).default('PASSWORD'),
    emailVerified: p.boolean().default(false),
    sessionVersion: p.integer().default(0),
    selfRegistered: p.boolean().default(false).lazy(),
  },
});
export type User = InferEntity<typeof User>;

/** A single-use link that verifies an address or resets a password, found by the hash of its token. */
export const AccountToken = defineEntity({
  name: 'AccountToken',
  tableName: 'account_tokens',
  properties: {
    tokenHash: p.blob().primary(),
    userId: p.manyToOne(User).mapToPk().deleteRule('cascade'),
    purpose: p.enum(['VERIFY_EMAIL', 'RESET_PASSWORD'] as const),
    expiresAt: p.datetime(3),
    createdAt: baseColumns.createdAt,
  },
  indexes: [
    { name: 'account_tokens_expiry', properties: ['expiresAt'] },
    { name: 'account_tokens_user', properties: ['userId', 'purpose'] },
  ],
});
export type AccountToken = InferEntity<typeof AccountToken>;

/** Where somebody signed in, for them to recognize. A session is valid by its signature, with or without this row. */
export const UserSession = defineEntity({
  name: 'UserSession',
  tableName: 'user_sessions',
  properties: {
    id: baseColumns.id,
    userId: p.manyToOne(User).mapToPk().deleteRule('cascade'),
    sessionHash: p.blob().unique(),
    sessionVersion: p.integer(),
    userAgent: p.text(),
    ip: p.text(),
    createdAt: baseColumns.createdAt,
    expiresAt: p.datetime(3),
  },
  indexes: [
    { name: 'user_sessions_user', properties: ['userId', 'createdAt'] },
    { name: 'user_sessions_expiry', properties: ['expiresAt'] },
  ],
});

/**
 * Attempts in a fixed window, shared by all processes. The subject is hashed, so that the table does not list what
 * strangers typed.
 */
export const AttemptWindow = defineEntity({
  name: 'AttemptWindow',
  tableName: 'attempt_windows',
  properties: {
    scope: p.text().primary(),
    subject: p.blob().primary(),
    used: p.integer(),
    endsAt: p.datetime().columnType('timestamptz'),
  },
  indexes: [{ name: 'attempt_windows_end', properties: ['endsAt'] }],
});
