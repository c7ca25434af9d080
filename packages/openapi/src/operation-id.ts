const verbs = { GET: 'get', POST: 'create', PUT: 'update', PATCH: 'update', DELETE: 'delete' } as const;

/** The methods that an operation may have. */
export type Method = keyof typeof verbs;

/**
 * The name of an operation in generated clients, made from its path in Koa's notation: `listContacts`, `getContact`,
 * `createContact`, `updateContact`, `deleteContact`, `pauseCampaign`, `listCampaignRecipients`.
 */
export function operationId(method: Method, path: string): string {
  const segments = path.split('/').slice(1);
  const isParameter = (segment: string) => segment.startsWith(':');
  const fixed = segments.filter((segment) => !isParameter(segment));
  // What stands before a parameter is one of several: `/contacts/:id` is a contact.
  const owners = fixed.slice(0, -1).map((segment) => words(singular(segment)));
  const noun = fixed.at(-1) ?? '';
  if (segments.slice(-1).some(isParameter)) return camelCase(verbs[method], ...owners, words(singular(noun)));
  if (method === 'GET' && isPlural(noun)) return camelCase('list', ...owners, words(noun));
  if (method !== 'POST') return camelCase(verbs[method], ...owners, words(noun));
  if (isPlural(noun)) return camelCase('create', ...owners, words(singular(noun)));
  // `POST /campaigns/:id/send` is a verb, and so is the first word of `rotate-secret`.
  const [verb = '', ...rest] = noun.split('-');
  return camelCase(verb, ...owners, rest.join('-'));
}

function isPlural(noun: string): boolean {
  return /[^s]s$/.test(noun) && !/(?:status|stats|limits|sns|series|^analytics)$/.test(noun);
}

function singular(noun: string): string {
  if (!isPlural(noun)) return noun;
  return noun.endsWith('ies') ? `${noun.slice(0, -3)}y` : noun.slice(0, -1);
}

function words(text: string): string {
  return text.replaceAll(/\W+/g, '-');
}

function camelCase(...parts: string[]): string {
  return parts
    .flatMap((part) => part.split('-'))
    .filter(Boolean)
    .map((word, index) => (index === 0 ? word : `${word.charAt(0).toUpperCase()}${word.slice(1)}`))
    .join('');
}
