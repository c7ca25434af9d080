/** A field or query parameter that the service did not read. */
export interface IgnoredField {
  /** Its path with dots, such as `steps.0.subjekt`. */
  name: string;
  /** The field that was probably meant. */
  use: string | null;
  /** It is a query parameter: unknown, or with a value that its default replaced. */
  inQuery: boolean;
}

// An item of a list of RFC 9651: a token or a quoted string, with parameters.
const value = String.raw`"(?:[^"\\]|\\.)*"|[^\s",;]+`;
const items = new RegExp(String.raw`(${value})((?:\s*;\s*[a-z]+=(?:${value}))*)`, 'g');
const parameters = new RegExp(String.raw`;\s*([a-z]+)=(${value})`, 'g');

/** Reads the header `X-Ignored-Fields`, such as `first_name;use="data.firstName", limit;in=query`. */
export function readIgnoredFields(header: string | null): IgnoredField[] {
  return [...(header ?? '').matchAll(items)].map(([, name = '', rest = '']) => {
    const told = new Map([...rest.matchAll(parameters)].map(([, key = '', given = '']) => [key, plain(given)]));
    return { name: plain(name), use: told.get('use') ?? null, inQuery: told.get('in') === 'query' };
  });
}

/** One warning for each: `upsertContact ignored "first_name": use "data.firstName"`. */
export function warningOf(operation: string, { name, use, inQuery }: IgnoredField): string {
  const kind = inQuery ? 'the query parameter ' : '';
  const hint = use === null ? '' : `: use ${JSON.stringify(use)}`;
  return `${operation} ignored ${kind}${JSON.stringify(name)}${hint}.`;
}

function plain(text: string): string {
  if (!text.startsWith('"')) return text;
  const inner = text.slice(1, -1).replaceAll(/\\(.)/g, '$1');
  try {
    return decodeURIComponent(inner);
  } catch {
    return inner;
  }
}
