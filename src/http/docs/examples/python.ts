import { filledPath, type Request, snake } from './request.ts';
import { argumentsOf, Expression, literal, methodOf, python, takesKey } from './typescript.ts';

/** The request in Python: by the client where it reaches an operation, otherwise by httpx, which the client brings along. */
export function pythonOf(request: Request, returns: 'page' | 'result' | null): string {
  const value = returns === null ? '' : `${returns} = `;
  // The client uploads the field `file` only.
  if (!takesKey(request) || (request.files !== null && request.files.file === undefined)) return byHttpx(request);
  const own = methodOf(request.operation.operationId);
  const client = request.credential === 'publicKey' ? 'public' : 'fernpost';
  const before = client === 'public' ? withPublicKey : [];
  const file = Object.values(request.files ?? {}).map((name) => new Expression(`open("${name}", "rb")`));
  if (own === null) {
    const named = Object.entries(inputOf(request, file));
    const first = new Expression(`"${request.operation.operationId}"`);
    return [...before, called(`${value}${client}.call`, [[null, first], ...named])].join('\n');
  }
  const target = [client, own.resource, own.name].filter(Boolean).join('.');
  const given = [...argumentsOf(own, request, snake), ...file].map((one) => [null, one] as const);
  return [...before, called(`${value}${target}`, given)].join('\n');
}

const withPublicKey = [
  'import os',
  '',
  'from fernpost import Fernpost',
  '',
  'public = Fernpost(os.environ["FERNPOST_URL"], key=os.environ["PUBLIC_KEY"])',
];

/** A call with arguments by their names or, where those are null, by their places. */
function called(target: string, values: readonly (readonly [name: string | null, value: unknown])[]): string {
  const written = (used: number, indent: string) =>
    values.map(([name, value]) => {
      const prefix = name === null ? '' : `${name}=`;
      return `${prefix}${literal(value, python, used + prefix.length, indent)}`;
    });
  const one = values.length === 1;
  const flat = `${target}(${written(one ? target.length + 2 : 0, '').join(', ')})`;
  const isShort = flat.split('\n').every((line) => line.length <= 92);
  if (one || (isShort && !flat.includes('\n'))) return flat;
  return `${target}(\n${written(4, '    ')
    .map((line) => `    ${line},\n`)
    .join('')})`;
}

function inputOf({ variables, query, body }: Request, [file]: readonly Expression[]): Record<string, unknown> {
  return {
    ...(variables.length > 0 && {
      path: Object.fromEntries(variables.map(({ name, variable }) => [name, new Expression(snake(variable))])),
    }),
    ...(Object.keys(query).length > 0 && { query }),
    ...(body !== undefined && { body }),
    ...(file !== undefined && { file }),
  };
}

function byHttpx(request: Request): string {
  const { operation, query, body, form, files, credential } = request;
  const path = filledPath(request, (variable) => `{${snake(variable)}}`);
  const address = `os.environ["FERNPOST_URL"] + ${path.includes('{') ? 'f' : ''}"${path}"`;
  const key = { secretKey: 'SECRET_KEY', publicKey: 'PUBLIC_KEY', sessionCookie: '' }[credential ?? 'sessionCookie'];
  const uploads = Object.entries(files ?? {}).map(([name, file]) => [name, new Expression(`open("${file}", "rb")`)]);
  const named = {
    ...(credential === 'sessionCookie' && { headers: { Cookie: new Expression('session_cookie') } }),
    ...(key !== '' && { headers: { Authorization: new Expression(`f"Bearer {os.environ['${key}']}"`) } }),
    ...(Object.keys(query).length > 0 && { params: query }),
    ...(body !== undefined && { json: body }),
    ...(form !== null && { data: form }),
    ...(files !== null && { files: Object.fromEntries(uploads) }),
  };
  // `httpx.delete` takes no body.
  const isPlain = operation.method !== 'DELETE' || (body === undefined && form === null);
  const target = isPlain ? `httpx.${operation.method.toLowerCase()}` : 'httpx.request';
  const first = isPlain ? [] : [[null, operation.method] as const];
  const all = [...first, [null, new Expression(address)] as const, ...Object.entries(named)];
  return `import os\n\nimport httpx\n\n${called(`response = ${target}`, all)}`;
}
