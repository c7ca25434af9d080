export { refusedRange } from './addresses.ts';
export { type CallLimits, callLimits, callOut, type IncomingAnswer, NoAnswer, type OutgoingRequest } from './call.ts';
export { AddressRefused, guardedConnector } from './guard.ts';
export { isRefusedPort } from './ports.ts';
