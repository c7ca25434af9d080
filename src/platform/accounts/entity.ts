import { defineEntity } from '@mikro-orm/core';
import { baseColumns } from '../../core/database/columns.ts';

const p = defineEntity.properties;

const UserSchema = defineEntity({
  name: 'User',
  tableName: 'users',
  properties: {
    ...baseColumns,
    email: p.text().unique(),
    passwordHash: p.text().nullable(),
    type: p.enum(['PASSWORD', 'GOOGLE_OAUTH', 'GITHUB_OAUTH'] as const).default('PASSWORD'),
    emailVerified: p.boolean().default(false),
    sessionVersion: p.integer().default(0),
  },
});

/** A person who signs in. */
export class User extends UserSchema.class {}
UserSchema.setClass(User);

const AccountTokenSchema = defineEntity({
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

/** A single-use link that verifies an address or resets a password, found by the hash of its token. */
export class AccountToken extends AccountTokenSchema.class {}
AccountTokenSchema.setClass(AccountToken);

const EndedSessionSchema = defineEntity({
  name: 'EndedSession',
  tableName: 'ended_sessions',
  properties: {
    sessionHash: p.blob().primary(),
    expiresAt: p.datetime().columnType('timestamptz'),
  },
  indexes: [{ name: 'ended_sessions_expiry', properties: ['expiresAt'] }],
});

/** A session that was signed out before it expired; the row goes when the session would have expired. */
export class EndedSession extends EndedSessionSchema.class {}
EndedSessionSchema.setClass(EndedSession);

const AttemptWindowSchema = defineEntity({
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

/**
 * Attempts in a fixed window, shared by all processes. The subject is hashed, so that the table does not list what
 * strangers typed.
 */
export class AttemptWindow extends AttemptWindowSchema.class {}
AttemptWindowSchema.setClass(AttemptWindow);
