export { openApiDocument } from './document.ts';
export type { JsonSchema } from './json-schema.ts';
export type { ApiDescription, Failure, Operation, PathParameter, RequestBody, Status } from './operation.ts';
export { operationId } from './operation-id.ts';
