import type { operationTable } from './operations.ts';
import type { operations } from './schema.d.ts';

/** The name of an operation in `/openapi.json`. */
export type OperationId = keyof typeof operationTable & keyof operations;

type Parameters<Id extends OperationId> = operations[Id]['parameters'];
type JsonOf<Part> = Part extends { content: { 'application/json': infer Json } } ? Json : never;

/** What a successful call answers; text where it is a file, nothing for a 204. */
export type Reply<Id extends OperationId> = {
  [Status in keyof operations[Id]['responses'] & (200 | 201 | 202 | 204)]: operations[Id]['responses'][Status] extends {
    content: infer Content;
  }
    ? Content[keyof Content]
    : undefined;
}[keyof operations[Id]['responses'] & (200 | 201 | 202 | 204)];

/** The JSON body of an operation; a `FormData` where it takes files. */
export type Body<Id extends OperationId> = operations[Id] extends { requestBody: infer Part }
  ? BodyOf<Part>
  : operations[Id] extends { requestBody?: infer Part }
    ? BodyOf<NonNullable<Part>> | undefined
    : undefined;
type BodyOf<Part> = Part extends { content: { 'application/json': unknown } } ? JsonOf<Part> : FormData;

type Field<Name extends string, Value> = [Value] extends [undefined]
  ? unknown
  : undefined extends Value
    ? { [Key in Name]?: Exclude<Value, undefined> }
    : { [Key in Name]: Value };
type IfGiven<Part> = [Part] extends [never] ? undefined : Part;
type QueryOf<Id extends OperationId> =
  Parameters<Id> extends { query: infer Query } ? Query : IfGiven<NonNullable<Parameters<Id>['query']>> | undefined;
type PathOf<Id extends OperationId> = Parameters<Id> extends { path: infer Path } ? Path : undefined;

/** Parameters and body of a call. */
export type Input<Id extends OperationId> = Field<'path', PathOf<Id>> &
  Field<'query', QueryOf<Id>> &
  Field<'body', Body<Id>>;

/** The input of a call, which may be left out where nothing in it is needed. */
export type InputArguments<Id extends OperationId> =
  object extends Input<Id> ? [input?: Input<Id>] : [input: Input<Id>];

/** Operations that answer their items page by page. */
export type ListOperation = {
  [Id in OperationId]: Exclude<Reply<Id>, string | undefined> extends { data: readonly unknown[] } ? Id : never;
}[OperationId];

/** One of what a list has. */
export type Item<Id extends ListOperation> =
  Extract<Reply<Id>, { data: readonly unknown[] }> extends { data: readonly (infer One)[] } ? One : never;
