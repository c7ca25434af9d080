export { drill } from './drill.ts';
export type { DrilledService } from './stack.ts';
