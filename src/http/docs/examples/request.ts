import { type OpenApiDocument, type Operation, type Parameter, resolve } from '../document.ts';

/** An operation with its place. */
export interface Placed extends Operation {
  method: string;
  path: string;
}

/** The request of an example, independent of its language. */
export interface Request {
  operation: Placed;
  /** Parameters of the path with the variables that examples have for them: the `id` of `/campaigns/{id}` is `campaignId`. */
  variables: readonly { name: string; variable: string; isNumber: boolean }[];
  query: Readonly<Record<string, unknown>>;
  /** The JSON body; undefined when there is none. */
  body: unknown;
  /** The fields of a form that is no JSON. */
  form: Readonly<Record<string, unknown>> | null;
  /** The files that are uploaded, by their fields. */
  files: Readonly<Record<string, string>> | null;
  credential: 'secretKey' | 'publicKey' | 'sessionCookie' | null;
}

/** Reads from the document what an example of an operation sends. */
export function requestOf(document: OpenApiDocument, operation: Placed): Request {
  const parameters = (operation.parameters ?? []).map((one) => resolve<Parameter>(document, one).part);
  const { 'application/json': json, ...others } = operation.requestBody?.content ?? {};
  const fields = (type: string) => Object.entries(others[type]?.schema?.properties ?? {});
  const schemes = (operation.security ?? []).flatMap((one) => Object.keys(one));
  return {
    operation,
    variables: pathVariables(operation.path).map((one) => {
      const { schema } = parameters.find(({ name, in: place }) => place === 'path' && name === one.name) ?? {};
      return { ...one, isNumber: schema?.type === 'integer' || schema?.type === 'number' };
    }),
    query: Object.fromEntries(
      parameters
        .filter((one) => one.in === 'query' && one.example !== undefined)
        .map(({ name, example }) => [name, example]),
    ),
    body: json?.example,
    form: whenAny(fields('application/x-www-form-urlencoded').map(([name, schema]) => [name, schema.enum?.[0] ?? ''])),
    files: whenAny(
      fields('multipart/form-data').map(([name]) => [name, name === 'image' ? 'image.png' : `${name}.csv`]),
    ),
    credential: (['secretKey', 'publicKey', 'sessionCookie'] as const).find((one) => schemes.includes(one)) ?? null,
  };
}

function whenAny<Value>(entries: [string, Value][]): Record<string, Value> | null {
  return entries.length === 0 ? null : Object.fromEntries(entries);
}

/** The path in the form of a language: each parameter is what `write` makes of its variable. */
export function filledPath({ operation, variables }: Request, write: (variable: string) => string): string {
  return operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    write(variables.find((one) => one.name === name)?.variable ?? name),
  );
}

function pathVariables(path: string): { name: string; variable: string }[] {
  return [...path.matchAll(/([^/]*)\/\{(\w+)\}/g)].map(([, resource = '', name = '']) => {
    const isOfMany = name === 'id' && resource.endsWith('s');
    return { name, variable: isOfMany ? `${camel(singular(resource))}Id` : name };
  });
}

function singular(plural: string): string {
  return plural.replace(/ies$/, 'y').replace(/(?<=s)es$|s$/, '');
}

/** `webhook-endpoints` and `webhook_endpoints` become `webhookEndpoints`. */
export function camel(name: string): string {
  return name.replaceAll(/[-_](\w)/g, (_, first: string) => first.toUpperCase());
}

/** `campaignId` becomes `campaign_id`. */
export function snake(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The request as a command to paste: addresses and keys are variables of the shell, as in the quick start. */
export function curlOf(request: Request): string {
  const { operation, query, body, form, files, credential } = request;
  const address = filledPath(request, (variable) => `$${snake(variable).toUpperCase()}`);
  const search = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  const parts = [
    `curl ${operation.method === 'GET' ? '' : `-X ${operation.method} `}"$FERNPOST_URL${address}${search.length === 0 ? '' : `?${search.join('&')}`}"`,
    ...(credential === null ? [] : [credentials[credential]]),
    ...(body === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d '${quoted(JSON.stringify(body, null, 2))}'`]),
    ...Object.entries(form ?? {}).map(([name, value]) => `-d ${name}=${value}`),
    ...Object.entries(files ?? {}).map(([name, file]) => `-F ${name}=@${file}`),
  ];
  return parts.join(' \\\n  ');
}

const credentials = {
  secretKey: '-H "Authorization: Bearer $SECRET_KEY"',
  publicKey: '-H "Authorization: Bearer $PUBLIC_KEY"',
  sessionCookie: '-b jar',
} as const;

function quoted(text: string): string {
  return text.replaceAll("'", `'\\''`);
}
