// What other parts of the service may use of accounts; everything else in this folder is its own.
export { giveBackAttempt, removeOldAttempts, takeAttempt } from './attempt-queries.ts';
export { User } from './entity.ts';
export { removeEndedSessions, type SessionState, type SessionUser, sessionState } from './session-queries.ts';
export { readCookie, readSession, sessionHash } from './sessions.ts';
export { removeOldTokens } from './token-queries.ts';
