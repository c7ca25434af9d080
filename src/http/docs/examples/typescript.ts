import { type Method, methods } from '@fernpost/sdk/methods';
import { Expression, literal, typeScript } from './literals.ts';
import { camel, filledPath, type Request } from './request.ts';

/** The method that calls an operation in both clients: a method of a resource, or of the client itself. */
interface SdkMethod {
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

/** The request in TypeScript: by the SDK where an operation takes a key, otherwise by `fetch`. */
export function typeScriptOf(request: Request, returns: 'page' | 'result' | null): string {
  const value = returns === null ? '' : `const ${returns} = `;
  if (!takesKey(request)) return byFetch(request);
  const own = methodOf(request.operation.operationId);
  const [imports, form] = formOf(request);
  const client = request.credential === 'publicKey' ? 'browser' : 'fernpost';
  const before = [...imports, ...(client === 'browser' ? withPublicKey : []), ...form];
  if (own === null) {
    const input = inputOf(request);
    const name = `'${request.operation.operationId}'`;
    return [...before, called(`${value}await ${client}.call`, [new Expression(name), ...input])].join('\n');
  }
  const target = [client, camel(own.resource), camel(own.name.replace(/_$/, ''))].filter(Boolean).join('.');
  const given = argumentsOf(own, request, (variable) => variable);
  const all = request.files === null ? given : [...given, new Expression('form')];
  return [...before, called(`${value}await ${target}`, all)].join('\n');
}

const withPublicKey = [
  "import { Fernpost } from '@fernpost/sdk';",
  '',
  'const browser = new Fernpost({ baseUrl: process.env.FERNPOST_URL!, key: process.env.PUBLIC_KEY! });',
];

function called(target: string, values: readonly unknown[]): string {
  let text = `${target}(`;
  for (const [index, value] of values.entries())
    text += `${index === 0 ? '' : ', '}${literal(value, typeScript, text.length + 2)}`;
  return `${text});`;
}

function inputOf({ variables, query, body, files }: Request): unknown[] {
  const input = {
    ...(variables.length > 0 && {
      path: Object.fromEntries(variables.map(({ name, variable }) => [name, new Expression(variable)])),
    }),
    ...(Object.keys(query).length > 0 && { query }),
    ...(body !== undefined && { body }),
    ...(files !== null && { body: new Expression('form') }),
  };
  return Object.keys(input).length === 0 ? [] : [input];
}

function formOf({ files }: Request): [imports: string[], lines: string[]] {
  if (files === null) return [[], []];
  const lines = Object.entries(files).map(
    ([name, file]) => `form.append('${name}', await openAsBlob('${file}'), '${file}');`,
  );
  return [
    ["import { openAsBlob } from 'node:fs';", ''],
    ['const form = new FormData();', ...lines],
  ];
}

function byFetch(request: Request): string {
  const { operation, query, body, form, credential } = request;
  const search = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  const path = filledPath(request, (variable) => `\${${variable}}`);
  const address = `\`\${process.env.FERNPOST_URL}${path}${search.length === 0 ? '' : `?${search.join('&')}`}\``;
  const headers = {
    ...(credential === 'sessionCookie' && { Cookie: new Expression('sessionCookie') }),
    ...(body !== undefined && { 'Content-Type': 'application/json' }),
  };
  const options = {
    ...(operation.method !== 'GET' && { method: operation.method }),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(body !== undefined && { body: new Expression(`JSON.stringify(${literal(body, typeScript, 24, '  ')})`) }),
    ...(form !== null && { body: new Expression(`new URLSearchParams(${literal(form, typeScript, 24, '  ')})`) }),
  };
  return called('const response = await fetch', [
    new Expression(address),
    ...(Object.keys(options).length === 0 ? [] : [options]),
  ]);
}
