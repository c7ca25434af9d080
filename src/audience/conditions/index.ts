// What other parts of the service may use of conditions; the rest of the subject is the package `@fernpost/conditions`.
export { conditionQuery, refused, refusing } from './service.ts';
export { ConditionShape } from './shape.ts';
