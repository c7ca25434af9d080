export { drill } from './drill.ts';
export { type Call, client } from './letters.ts';
export type { Victim } from './plan.ts';
export { type DrilledService, startStack } from './stack.ts';
