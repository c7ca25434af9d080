import { type OpenApiDocument, type Operation, type Parameter, resolve } from './document.ts';

/** The operation as a command to paste: addresses and keys are variables of the shell, as in the quick start. */
export function curlOf(
  document: OpenApiDocument,
  operation: Operation,
  { method, path }: { method: string; path: string },
): string {
  const parameters = (operation.parameters ?? []).map((one) => resolve<Parameter>(document, one).part);
  const needed = parameters.filter((parameter) => parameter.in === 'query' && parameter.required);
  const query = needed.map(({ name }) => `${name}=$${variable(name)}`).join('&');
  const address = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => `$${variable(name)}`);
  const [type, media] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  const parts = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}"$FERNPOST_URL${address}${query === '' ? '' : `?${query}`}"`,
    ...credentials(operation),
    ...(type === 'application/json' && media?.example !== undefined
      ? ["-H 'Content-Type: application/json'", `-d '${quoted(JSON.stringify(media.example, null, 2))}'`]
      : []),
    ...(type === 'multipart/form-data'
      ? Object.entries(media?.schema?.properties ?? {}).map(([name]) => `-F ${name}=@file`)
      : []),
  ];
  return parts.join(' \\\n  ');
}

function credentials({ security = [] }: Operation): string[] {
  const schemes = security.flatMap((one) => Object.keys(one));
  if (schemes.includes('secretKey')) return ['-H "Authorization: Bearer $SECRET_KEY"'];
  if (schemes.includes('publicKey')) return ['-H "Authorization: Bearer $PUBLIC_KEY"'];
  return schemes.includes('session') ? ['-b jar'] : [];
}

function variable(name: string): string {
  return name.replaceAll(/([a-z])([A-Z])/g, '$1_$2').toUpperCase();
}

function quoted(text: string): string {
  return text.replaceAll("'", `'\\''`);
}
