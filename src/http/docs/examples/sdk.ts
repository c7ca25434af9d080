import { type Method, methods } from '@fernpost/sdk/methods';
import { Expression } from './literals.ts';
import type { Request } from './request.ts';

/** What calls an operation in both clients: a method of a resource, or of the client itself. */
export interface SdkMethod {
  /** Empty for methods of the client. */
  resource: string;
  name: string;
  method: Method;
}

/** The method of an operation that says the same as its request, or null: the clients call such operations by their names. */
export function methodOf(operationId: string): SdkMethod | null {
  const found = Object.entries(methods).flatMap(([resource, own]) =>
    Object.entries(own).flatMap(([name, method]) =>
      method.operation === operationId && !method.wait && !method.fixed ? [{ resource, name, method }] : [],
    ),
  );
  return found.find(({ method }) => !method.fields) ?? found[0] ?? null;
}

/** The arguments of a method for a request: what is in its path, then its fields, its body or its filters. */
export function argumentsOf({ method }: SdkMethod, request: Request, write: (variable: string) => string): unknown[] {
  const { project, fields, path: renamed = {}, defaults = {} } = method;
  const own = Object.fromEntries(Object.entries(renamed).map(([name, theirs]) => [theirs, name]));
  const inPath = request.variables
    .filter(({ name }) => name !== project && defaults[own[name] ?? name] === undefined)
    .map(({ variable }) => new Expression(write(variable)));
  if (fields !== undefined) {
    const body = (request.body ?? {}) as Readonly<Record<string, unknown>>;
    return [...inPath, ...Object.values(fields).map((field) => body[field])];
  }
  const hasQuery = Object.keys(request.query).length > 0;
  return [...inPath, ...(request.body === undefined ? [] : [request.body]), ...(hasQuery ? [request.query] : [])];
}

/** Whether the clients reach an operation: it takes a key. */
export function takesKey({ credential }: Request): boolean {
  return credential === 'secretKey' || credential === 'publicKey';
}
