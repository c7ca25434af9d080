import { type Method, methods } from '@fernpost/sdk/methods';
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

/** Code that stands in a literal as it is, such as the name of a variable. */
export class Expression {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** How a language writes values. */
export interface Style {
  indent: string;
  /** Writes the fields of an object on one line, between its braces. */
  braces: (inner: string) => string;
  field: (name: string, value: string) => string;
  scalar: (value: unknown) => string;
}

const width = 90;

export const typeScript: Style = {
  indent: '  ',
  braces: (inner) => (inner === '' ? '{}' : `{ ${inner} }`),
  field: (name, value) => {
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : inQuotes(name);
    return key === value ? key : `${key}: ${value}`;
  },
  scalar: (value) => (typeof value === 'string' ? inQuotes(value) : JSON.stringify(value)),
};

export const python: Style = {
  indent: '    ',
  braces: (inner) => `{${inner}}`,
  field: (name, value) => `${JSON.stringify(name)}: ${value}`,
  scalar: (value) => {
    if (value === null) return 'None';
    return typeof value === 'boolean' ? (value ? 'True' : 'False') : JSON.stringify(value);
  },
};

/** A value in a language, on one line where there is room for it after so many characters. */
export function literal(value: unknown, style: Style, used: number, indent = ''): string {
  const inline = onOneLine(value, style);
  if (!isNested(value) || used + inline.length <= width) return inline;
  const inner = `${indent}${style.indent}`;
  const items = Array.isArray(value)
    ? value.map((item) => literal(item, style, inner.length + 1, inner))
    : Object.entries(value).map(([name, item]) =>
        style.field(name, literal(item, style, inner.length + name.length + 5, inner)),
      );
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return `${open}\n${items.map((item) => `${inner}${item},\n`).join('')}${indent}${close}`;
}

function onOneLine(value: unknown, style: Style): string {
  if (value instanceof Expression) return value.text;
  if (Array.isArray(value)) return `[${value.map((item) => onOneLine(item, style)).join(', ')}]`;
  if (!isNested(value)) return style.scalar(value);
  return style.braces(
    Object.entries(value)
      .map(([name, item]) => style.field(name, onOneLine(item, style)))
      .join(', '),
  );
}

function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !(value instanceof Expression);
}

function inQuotes(text: string): string {
  const inner = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"');
  return `'${inner.replaceAll("'", "\\'")}'`;
}
