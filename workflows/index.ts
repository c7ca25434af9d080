export { reconcile, retention } from './sweeps.ts';
