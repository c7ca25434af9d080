import { Expression, literal, typeScript } from './literals.ts';
import { camel, filledPath, type Request } from './request.ts';
import { argumentsOf, methodOf, takesKey } from './sdk.ts';

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
