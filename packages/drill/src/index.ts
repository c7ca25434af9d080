export { type Call, client } from './client.ts';
export { drill } from './drill.ts';
export type { Victim } from './plan.ts';
export { type DrilledService, startStack } from './stack.ts';
