// What other parts of the service may use of reputation; everything else in this folder is its own.
export { createReputationGuard, type ReputationGuard } from './guard-service.ts';
