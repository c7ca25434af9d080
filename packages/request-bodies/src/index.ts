export { BodyBudget, type BodyHold, type BudgetSize } from './budget.ts';
export { BodyError, type BodyFault, sizeText } from './error.ts';
export { exceededLimit, type JsonLimits } from './json-shape.ts';
export { findNul, wellFormed } from './json-text.ts';
export { type BodyLimit, type BodyMemory, BodyReader, discard, type JsonBody } from './reader.ts';
