// What other parts of the service may use of accounts; everything else in this folder is its own.
export { giveBackAttempt, removeOldAttempts, takeAttempt } from './attempt-queries.ts';
export { User } from './entity.ts';
export type { AccountMailSettings } from './mail-service.ts';
export { hashPassword } from './passwords.ts';
export { insertUser } from './queries.ts';
export { MessageReply, Password, SignedIn, Token } from './schema.ts';
export { removeOldSessions } from './session-list.ts';
export { removeEndedSessions, type SessionState, type SessionUser, sessionState } from './session-queries.ts';
export { readSession, sessionHash, sessionTokens } from './sessions.ts';
export { signedIn } from './sign-in.ts';
export { removeOldTokens } from './token-queries.ts';
