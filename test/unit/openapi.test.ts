import { STATUS_CODES } from 'node:http';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { openApiDocument } from '../../src/http/openapi.ts';
import { routes } from '../../src/main/api/routes.ts';

interface Operation {
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  security: object[];
  parameters: { name?: string; description?: string; schema?: { type?: string; enum?: unknown[] } }[];
  requestBody?: { content: Record<string, { schema: object; example?: unknown }> };
  responses: Record<string, { $ref?: string; description?: string }>;
}

const document = openApiDocument(routes, 'https://fernpost.test') as {
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: Record<'schemas' | 'responses' | 'parameters' | 'securitySchemes', Record<string, object>>;
};
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ place: `${method.toUpperCase()} ${path}`, ...operation })),
);

test('every operation has an id of its own, a summary, a description and a tag that is described', () => {
  const tags = new Map(document.tags.map(({ name, description }) => [name, description]));
  expect(operations.length).toBe(routes.length);
  for (const { place, operationId, summary, description, tags: own } of operations) {
    expect(operationId, place).toMatch(/^[a-z][A-Za-z]+$/);
    expect(
      [summary, description].every((text) => text.length > 3),
      place,
    ).toBe(true);
    for (const name of own)
      expect(tags.get(name), `the tag ${name} is described in src/http/api-description.ts`).toBeDefined();
  }
  const ids = operations.map(({ operationId }) => operationId);
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
});

test('every success is described by a sentence that says what this operation returns', () => {
  const wordsOf = (text = '') =>
    text
      .toLowerCase()
      .match(/[a-z]+/g)
      ?.join(' ') ?? '';
  const statuses = new Set(Object.values(STATUS_CODES).map(wordsOf));
  const places = new Map<string, string[]>();
  const refused: string[] = [];
  for (const { place, summary, responses } of operations)
    for (const [status, { description = '' }] of Object.entries(responses).filter(([status]) => /^[23]/.test(status))) {
      const said = `${place} ${status}: ${description}`;
      if (!/^[A-Z].+\.$/.test(description)) refused.push(`${said} is no sentence: write \`returns\` of the route`);
      if (statuses.has(wordsOf(description))) refused.push(`${said} says the status only`);
      if (wordsOf(description) === wordsOf(summary)) refused.push(`${said} is the summary`);
      places.set(description, [...(places.get(description) ?? []), said]);
    }
  expect(refused).toEqual([]);
  expect([...places.values()].filter((all) => all.length > 3)).toEqual([]);
  for (const { method, path, status = 200, returns } of routes)
    if (typeof returns === 'object') expect(Object.keys(returns), `${method} ${path}`).toContain(String(status));
});

test('what an operation says of its callers is what it is declared with', () => {
  const declared = new Map(
    routes.map((route) => [`${route.method} ${route.path.replaceAll(/:(\w+)/g, '{$1}')}`, route]),
  );
  for (const { place, description, security } of operations) {
    const route = declared.get(place);
    const takesKeys = security.some((one) => 'secretKey' in one);
    expect(/Needs the secret key/.test(description), place).toBe(takesKeys);
    expect(/Keys are refused/.test(description), place).toBe(route?.refusesKeys === true);
    expect(/Keys with scopes need/.test(description), place).toBe(
      !['any', undefined].includes(route?.scope) && route?.refusesKeys !== true,
    );
    // In sentences of its own a route must not say more of keys than the access it is declared with.
    expect(route?.description ?? '', place).not.toMatch(
      /\bno key (can|may)\b|\bkeys? (is|are|get) refused\b|\bkeys cannot\b/i,
    );
  }
});

test('ids read as what is done', () => {
  const idOf = (place: string) => operations.find((operation) => operation.place === place)?.operationId;
  expect(idOf('POST /v1/send')).toBe('sendEmail');
  expect(idOf('GET /contacts')).toBe('listContacts');
  expect(idOf('GET /campaigns/{id}')).toBe('getCampaign');
  expect(idOf('POST /campaigns/{id}/pause')).toBe('pauseCampaign');
  expect(idOf('PATCH /workflows/{id}/steps/{stepId}')).toBe('updateWorkflowStep');
  expect(idOf('GET /emails')).toBe('listEmailsInDashboard');
});

test('every reference leads somewhere, and every component is referred to', () => {
  const references = referencesIn(document);
  for (const reference of references) {
    const found = reference
      .slice(2)
      .split('/')
      .reduce<unknown>((node, key) => (node as Record<string, unknown> | undefined)?.[key], document);
    expect(found, reference).toBeDefined();
  }
  const schemas = Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`);
  expect(schemas.filter((name) => !references.has(name))).toEqual([]);
});

test('a resource is the same schema wherever it stands', () => {
  const reply = (path: string, method = 'get') => {
    const answer = document.paths[path]?.[method]?.responses['200'] as
      | { content: Record<string, { schema: object }> }
      | undefined;
    return answer?.content['application/json']?.schema;
  };
  expect(reply('/contacts/{id}')).toEqual({ $ref: '#/components/schemas/Contact' });
  expect(reply('/contacts/{id}', 'patch')).toEqual({ $ref: '#/components/schemas/Contact' });
  expect(document.components.schemas.ContactPage).toMatchObject({
    properties: { data: { items: { $ref: '#/components/schemas/Contact' } } },
  });
  expect(document.components.schemas.Segment).toMatchObject({
    properties: { condition: { anyOf: [{ $ref: '#/components/schemas/Condition' }, { type: 'null' }] } },
  });
});

test('forms that a word tells apart say which word stands for which', () => {
  const form = (name: string) => `#/components/schemas/${name}`;
  expect(document.components.schemas.ConditionFilter).toMatchObject({
    discriminator: {
      propertyName: 'operator',
      mapping: { equals: form('ConditionComparison'), within: form('ConditionWindow'), exists: form('ConditionState') },
    },
  });
  const schemas = document.components.schemas as Record<
    string,
    { properties?: Record<string, Word>; required?: string[] }
  >;
  let unions = 0;
  const look = (node: unknown) => {
    if (typeof node !== 'object' || node === null) return;
    const { oneOf, discriminator } = node as { oneOf?: { $ref?: string }[]; discriminator?: Discriminator };
    const forms = (oneOf ?? []).map(({ $ref }) => $ref ?? '');
    const common = commonWord(forms.map((reference) => schemas[reference.split('/').at(-1) ?? '']?.properties));
    expect(discriminator?.propertyName).toBe(common?.name);
    if (discriminator !== undefined) unions++;
    for (const [word, reference] of Object.entries(discriminator?.mapping ?? {}))
      expect(common?.words[forms.indexOf(reference)]).toContain(word);
    for (const part of Object.values(node)) look(part);
  };
  look(document);
  expect(unions).toBeGreaterThan(1);
});

test('no two things have one name in a client for Go', () => {
  // Generators for Go name types without regard to the kind of a thing, and by what an operation takes and answers.
  const { schemas, responses, parameters, securitySchemes } = document.components;
  const kinds = { schemas, responses, parameters, securitySchemes };
  const inGo = (name: string) => name.replaceAll(/[^A-Za-z0-9]/g, '').toLowerCase();
  const owners = new Map<string, string[]>();
  const own = (name: string, owner: string) => owners.set(inGo(name), [...(owners.get(inGo(name)) ?? []), owner]);
  for (const [kind, parts] of Object.entries(kinds))
    for (const name of Object.keys(parts)) own(name, `${kind}/${name}`);
  for (const { operationId } of operations)
    for (const suffix of ['Response', 'Res', 'Params', 'JSONRequestBody', 'JSONBody', 'OK', 'Created', 'Accepted'])
      own(`${operationId}${suffix}`, `${operationId} (${suffix})`);
  expect([...owners.values()].filter((all) => all.length > 1)).toEqual([]);
});

test('a union is of forms that can be told apart, or of one form and null', () => {
  const unclear: string[] = [];
  const look = (node: unknown, place: string) => {
    if (typeof node !== 'object' || node === null) return;
    const { anyOf } = node as { anyOf?: { type?: string }[] };
    if (Array.isArray(anyOf) && anyOf.filter(({ type }) => type !== 'null').length !== 1)
      unclear.push(`${place}: describe one object, or close the forms with v.strictObject()`);
    for (const [key, part] of Object.entries(node)) look(part, `${place}/${key}`);
  };
  look(document, '');
  expect(unclear).toEqual([]);
});

test('an error is the envelope, and may be a text where the contract has bare ones', () => {
  const referredTo = (place: string, status: string) => {
    const found = operations.find((operation) => operation.place === place)?.responses[status];
    return found?.$ref?.split('/').at(-1);
  };
  expect(referredTo('POST /contacts', '400')).toBe('AnyError400');
  expect(referredTo('POST /contacts', '422')).toBe('Error422');
  expect(referredTo('GET /contacts/import/{jobId}', '404')).toBe('AnyError404');
  expect(referredTo('GET /contacts/{id}', '404')).toBe('Error404');
  expect(document.components.schemas.AnyError).toMatchObject({
    properties: { error: { oneOf: [{ type: 'string' }, { $ref: '#/components/schemas/ErrorDetails' }] } },
    required: ['error'],
  });
});

interface Word {
  const?: unknown;
  enum?: unknown[];
}
interface Discriminator {
  propertyName: string;
  mapping: Record<string, string>;
}

/** The property that holds other words in every form. */
function commonWord(forms: (Record<string, Word> | undefined)[]): { name: string; words: unknown[][] } | undefined {
  for (const name of Object.keys(forms[0] ?? {})) {
    const words = forms.map((form) => form?.[name]?.enum ?? [form?.[name]?.const]);
    const all = words.flat();
    if (all.every((word) => typeof word === 'string') && new Set(all).size === all.length) return { name, words };
  }
  return undefined;
}

test('every field and every parameter is described', () => {
  const bare: string[] = [];
  // A default alone says nothing of a field.
  const isBare = (text = '') => text.replace(/^Default: `.*`\.$/, '') === '';
  const look = (node: unknown, place: string) => {
    if (typeof node !== 'object' || node === null) return;
    const { properties = {} } = node as { properties?: Record<string, { description?: string }> };
    for (const [name, { description }] of Object.entries(properties))
      if (isBare(description)) bare.push(`${place}.${name}: describe it with field() in its schema`);
    for (const part of Object.values(node)) look(part, place);
  };
  for (const [name, schema] of Object.entries(document.components.schemas)) look(schema, name);
  for (const { operationId, parameters, requestBody } of operations) {
    look(requestBody, operationId);
    for (const { name, description } of parameters)
      if (name !== undefined && isBare(description)) bare.push(`${operationId}, parameter ${name}`);
  }
  expect(bare).toEqual([]);
});

test('a number in a response is an integer, unless it may be a fraction', () => {
  // Percentages, pixels, what callers give or keep, and what may be a percentage.
  const fraction =
    /(rate|percent|share)$|\.(drift|trend|x|y|values?|data\.progress|interval\.(low|high)|stopped\.limit)$/i;
  const plain = new Set<string>();
  const seen = new Set<string>();
  const look = (node: unknown, place: string) => {
    if (typeof node !== 'object' || node === null) return;
    const { $ref = '', type } = node as { $ref?: string; type?: string };
    const [, , kind = '', name = ''] = $ref.split('/');
    if (type === 'number' && !fraction.test(place)) plain.add(`${place}: Integer of src/lib/validation/fields.ts`);
    if ($ref !== '' && !seen.has($ref)) {
      seen.add($ref);
      look(document.components[kind as keyof typeof document.components]?.[name], name);
    }
    const { properties = {}, ...rest } = node as { properties?: Record<string, object> };
    for (const [key, part] of Object.entries(properties)) look(part, `${place}.${key}`);
    for (const part of Object.values(rest)) look(part, place);
  };
  for (const { operationId, responses } of operations) look(responses, operationId);
  expect([...plain]).toEqual([]);
});

test('a field is described as what it is in its operation, not by its name', () => {
  const described = (...path: string[]) => {
    const [name = '', ...fields] = path;
    const found = fields.reduce<Described | undefined>((node, key) => {
      const { items = node, anyOf = [] } = (node ?? {}) as Described;
      return [items, ...anyOf].find((form) => form?.properties?.[key])?.properties?.[key];
    }, document.components.schemas[name]);
    return found?.description;
  };
  expect(described('Error', 'success')).toBe('Always false.');
  expect(described('Error', 'error')).not.toMatch(/null/);
  const [sent, emails] = ['SendEmailResult', 'emails'] as const;
  expect(described(sent, 'data', emails, 'contact', 'email')).toMatch(/address/i);
  expect(described(sent, 'data', emails, 'contact', 'id')).toMatch(/contact/i);
  expect(described(sent, 'data', emails, 'email')).toMatch(/ID of the email/);
  expect(described('Contact', 'email')).toMatch(/address/i);
  expect(described('Credentials', 'email')).toMatch(/address of the account/i);
  expect(described('DnsRecord', 'value')).toMatch(/DNS/);
});

interface Described {
  description?: string;
  properties?: Record<string, Described>;
  items?: Described;
  anyOf?: Described[];
}

test('every example is a request that its schema takes', () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(document, 'document');
  const withExamples = operations.flatMap(({ place, requestBody }) => {
    const json = requestBody?.content['application/json'];
    return json?.example === undefined ? [] : [{ place, ...json }];
  });
  expect(withExamples.length).toBeGreaterThan(50);
  for (const { place, schema, example } of withExamples) {
    const text = JSON.stringify(schema).replaceAll('"#/', '"document#/');
    const validate = ajv.compile(JSON.parse(text));
    expect(validate(example) ? null : `${place}: ${ajv.errorsText(validate.errors)}`).toBeNull();
  }
});

function referencesIn(node: unknown, found = new Set<string>()): Set<string> {
  if (typeof node !== 'object' || node === null) return found;
  for (const [key, value] of Object.entries(node))
    if (key === '$ref' && typeof value === 'string') found.add(value);
    else referencesIn(value, found);
  return found;
}
