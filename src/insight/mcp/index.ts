// What other parts of the service may use of plans; everything else in this folder is its own.
export { removeOldPlans } from './plans.ts';
