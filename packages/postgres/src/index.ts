export {
  type ConnectionRoute,
  type ConnectionSettings,
  connectionOptions,
  DatabaseAddressError,
  endHeldConnections,
  inspectRoute,
  requireSessions,
} from './connection.ts';
export { isDatabaseError, isLostConnection, type PassingFailure, passingFailure } from './failures.ts';
export { groupCalls } from './grouped.ts';
export { listenerName, listenOn } from './listener.ts';
export { compiled, join, Query, raw, sql, unprepared } from './query.ts';
export { startWokenLoop } from './woken-loop.ts';
