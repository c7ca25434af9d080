import { nameSchemas } from '@fernpost/openapi/names';
import { coded, EmailField, Instant, Uuid } from '@fernpost/validation';
import * as v from 'valibot';

/** A password that is being chosen. */
export const Password = v.pipe(
  v.string('must be a string'),
  v.minLength(6, 'must have at least 6 characters'),
  v.maxLength(1024, 'must have at most 1024 characters'),
);
/** The token in the link of a mail. */
export const Token = v.pipe(
  v.string('must be a string'),
  coded<string>('invalid_string', (token) => token.length === 64, 'must have exactly 64 characters'),
);

/** `POST /auth/login` and `POST /auth/signup`. */
export const Credentials = v.object({ email: EmailField, password: Password });
export type Credentials = v.InferOutput<typeof Credentials>;

/** A user as they see themselves. */
export const UserBody = v.object({ id: Uuid, email: v.string() });
export type UserBody = v.InferOutput<typeof UserBody>;

/** What a sign-in answers. */
export const SignedIn = v.object({ success: v.literal(true), data: UserBody });
/** An answer that only says what happened. */
export const MessageReply = v.object({ success: v.literal(true), data: v.object({ message: v.string() }) });

/** `POST /auth/verify-email`. */
export const VerifyEmail = v.object({ token: Token });
/** `POST /auth/request-password-reset`. */
export const RequestReset = v.object({ email: EmailField });
/** `POST /auth/reset-password`. */
export const ResetPassword = v.object({ token: Token, newPassword: Password });

/** `POST /users/@me/password`. */
export const ChangePassword = v.object({ currentPassword: v.string('must be a string'), newPassword: Password });
export type ChangePassword = v.InferOutput<typeof ChangePassword>;

/** `GET /users/@me/account`. */
export const Account = v.object({
  ...UserBody.entries,
  /** How they sign in. */
  type: v.picklist(['PASSWORD', 'GOOGLE_OAUTH', 'GITHUB_OAUTH']),
  emailVerified: v.boolean(),
  createdAt: Instant,
});
export type Account = v.InferOutput<typeof Account>;

/** A browser or app that somebody is signed in with. */
export const SessionBody = v.object({
  id: Uuid,
  current: v.boolean(),
  userAgent: v.string(),
  ip: v.string(),
  createdAt: Instant,
  expiresAt: Instant,
});
export type SessionBody = v.InferOutput<typeof SessionBody>;

/** Which providers of sign-in are set up. */
export const OAuthConfig = v.object({
  success: v.literal(true),
  data: v.object({ github: v.boolean(), google: v.boolean() }),
});

nameSchemas({ Account, Session: SessionBody, User: UserBody, Credentials, SignedIn, MessageReply });
