import * as v from 'valibot';
import { EmailField } from '../lib/validation/email-address.ts';
import { coded, field, Instant, nameSchemas, Uuid } from '../lib/validation/fields.ts';

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
export const Credentials = v.object({
  email: field('Email address of the account.', EmailField),
  password: field('Password of the account, 6 to 1,024 characters.', Password),
});
export type Credentials = v.InferOutput<typeof Credentials>;

/** A user as they see themselves. */
export const UserBody = v.object({
  id: field('ID of the user.', Uuid),
  email: field('Email address of the user.', v.string()),
});
export type UserBody = v.InferOutput<typeof UserBody>;

/** The reply to a sign-in. */
export const SignedIn = v.object({
  success: field('Always true.', v.literal(true)),
  data: field('The user who signed in.', UserBody),
});
/** An answer that only says what happened. */
export const MessageReply = v.object({
  success: field('Always true.', v.literal(true)),
  data: field('The result.', v.object({ message: field('What happened, for people.', v.string()) })),
});

/** `POST /auth/verify-email`. */
export const VerifyEmail = v.object({ token: field('Token from the link in the email, 64 characters.', Token) });
/** `POST /auth/request-password-reset`. */
export const RequestReset = v.object({ email: field('Email address of the account.', EmailField) });
/** `POST /auth/reset-password`. */
export const ResetPassword = v.object({
  token: field('Token from the link in the email, 64 characters.', Token),
  newPassword: field('New password, 6 to 1,024 characters.', Password),
});

/** `POST /users/@me/password`. */
export const ChangePassword = v.object({
  currentPassword: field('Current password of the account.', v.string('must be a string')),
  newPassword: field('New password, 6 to 1,024 characters.', Password),
});
export type ChangePassword = v.InferOutput<typeof ChangePassword>;

/** `GET /users/@me/account`. */
export const Account = v.object({
  ...UserBody.entries,
  type: field('How the user signs in.', v.picklist(['PASSWORD', 'GOOGLE_OAUTH', 'GITHUB_OAUTH'])),
  emailVerified: field('Whether the email address is verified.', v.boolean()),
  createdAt: field('Time at which the account was created.', Instant),
});
export type Account = v.InferOutput<typeof Account>;

/** A browser or app that somebody is signed in with. */
export const SessionBody = v.object({
  id: field('ID of the session.', Uuid),
  current: field('Whether this is the session of the request.', v.boolean()),
  userAgent: field('`User-Agent` of the browser or app at sign-in.', v.string()),
  ip: field('IP address at sign-in.', v.string()),
  createdAt: field('Time of the sign-in.', Instant),
  expiresAt: field('Time at which the session expires.', Instant),
});
export type SessionBody = v.InferOutput<typeof SessionBody>;

/** Which providers of sign-in are set up. */
export const OAuthConfig = v.object({
  success: field('Always true.', v.literal(true)),
  data: field(
    'Sign-in providers of the deployment.',
    v.object({
      github: field('Whether users can sign in with GitHub.', v.boolean()),
      google: field('Whether users can sign in with Google.', v.boolean()),
    }),
  ),
});

nameSchemas({ Account, Session: SessionBody, User: UserBody, Credentials, SignedIn, MessageReply });
