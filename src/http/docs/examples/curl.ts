import { filledPath, type Request, snake } from './request.ts';

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
