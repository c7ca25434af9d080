import type { operationTable } from './operations.ts';
import type { ItemName } from './pages.ts';
import type { operations } from './schema.d.ts';

/** The name of an operation in `/openapi.json`. */
export type OperationId = keyof typeof operationTable & keyof operations;

type Parameters<Id extends OperationId> = operations[Id]['parameters'];
type JsonOf<Part> = Part extends { content: { 'application/json': infer Json } } ? Json : never;

/** The result of a successful call; text where it is a file, nothing for a 204. */
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

/** The items of a list: the response itself, or its field for them. */
type ItemsOf<Answer> = Answer extends readonly unknown[]
  ? Answer
  : { [Name in ItemName & keyof Answer]: Answer[Name] extends readonly unknown[] ? Answer[Name] : never }[ItemName &
      keyof Answer];

/** Operations that return a list. */
export type ListOperation = {
  [Id in OperationId]: [ItemsOf<Exclude<Reply<Id>, string | undefined>>] extends [never] ? never : Id;
}[OperationId];

/** One item of a list. */
export type Item<Id extends ListOperation> =
  ItemsOf<Exclude<Reply<Id>, string | undefined>> extends readonly (infer One)[] ? One : never;

/** The filters of a list, with the place where it begins. */
export type ListQuery<Id extends ListOperation> = Input<Id> extends { query?: infer Query } ? Query : never;
