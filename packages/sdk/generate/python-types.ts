/** The parts of an OpenAPI 3.1 document from which clients are generated. */
export interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: Record<string, Record<string, unknown>> & { schemas: Record<string, Schema> };
}

export interface Operation {
  operationId: string;
  summary?: string;
  description?: string;
  security?: Record<string, unknown>[];
  parameters?: {
    $ref?: string;
    name?: string;
    in?: string;
    required?: boolean;
    description?: string;
    schema?: Schema;
  }[];
  requestBody?: { required?: boolean; content?: Record<string, { schema?: Schema }> };
  responses?: Record<string, { content?: Record<string, { schema?: Schema }> }>;
}

/** A JSON Schema. */
export interface Schema {
  $ref?: string;
  type?: string | readonly string[];
  const?: unknown;
  enum?: readonly unknown[];
  anyOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  items?: Schema;
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  additionalProperties?: boolean | Schema;
  description?: string;
}

// Names that a class cannot have as fields.
const keywords = new Set([
  'and',
  'as',
  'class',
  'def',
  'from',
  'global',
  'import',
  'in',
  'is',
  'lambda',
  'not',
  'or',
  'pass',
]);

/** Writes JSON Schemas as types of Python: objects become TypedDicts with names, everything else is written where it stands. */
export class PythonTypes {
  readonly #schemas: Readonly<Record<string, Schema>>;
  readonly #written = new Map<string, string>();
  readonly #named = new Map<Schema, string>();

  constructor(schemas: Readonly<Record<string, Schema>>) {
    this.#schemas = schemas;
  }

  /** The type of a schema. `name` is the name that an object gets here. */
  typeOf(schema: Schema, name: string): string {
    if (schema.$ref !== undefined) return this.#component(schema.$ref.split('/').at(-1) ?? '');
    if (schema.const !== undefined) return `Literal[${literal(schema.const)}]`;
    if (schema.enum !== undefined) return `Literal[${schema.enum.map(literal).join(', ')}]`;
    const parts = schema.anyOf ?? schema.oneOf;
    if (parts !== undefined)
      return union(parts.map((part, index) => this.typeOf(part, `${name}${index === 0 ? '' : index + 1}`)));
    const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? []);
    if (types.length === 0) return 'Any';
    return union(types.map((type) => this.#typed(type, schema, name)));
  }

  /** Writes an object as a TypedDict and returns its name, which is its first one where it is found again. */
  object(wanted: string, schema: Schema): string {
    const known = this.#named.get(schema);
    if (known !== undefined) return known;
    const name = this.#written.has(wanted) ? `${wanted}_` : wanted;
    const { properties = {}, required = [], description } = schema;
    // Kept before its fields are written: an object may have itself inside.
    this.#named.set(schema, name);
    this.#written.set(name, '');
    const fields = Object.entries(properties).map(([field, part]) => {
      const type = this.typeOf(part, `${name}${pascal(field)}`);
      return { field, type: required.includes(field) ? type : `NotRequired[${type}]`, about: part.description };
    });
    this.#written.set(
      name,
      fields.some(({ field }) => !isName(field)) ? asCall(name, fields) : asClass(name, fields, description),
    );
    return name;
  }

  /** Resolves a reference; returns other schemas unchanged. */
  resolved(schema: Schema): Schema {
    return schema.$ref === undefined ? schema : (this.#schemas[schema.$ref.split('/').at(-1) ?? ''] ?? schema);
  }

  /** Every type that was written, each below the others that it was found in. */
  get text(): string {
    return [...this.#written.values()].join('\n\n').replaceAll(/\n{4,}/g, '\n\n\n');
  }

  #component(name: string): string {
    const schema = this.#schemas[name];
    if (schema === undefined || this.#written.has(name)) return name;
    if (isObject(schema)) return this.object(name, schema);
    this.#written.set(name, '');
    const type = this.typeOf(schema, `${name}Value`);
    this.#written.set(name, `${name}: TypeAlias = ${JSON.stringify(type).replaceAll('\\"', "'")}\n`);
    return name;
  }

  #typed(type: string, schema: Schema, name: string): string {
    if (type === 'array') return `List[${this.typeOf(schema.items ?? {}, `${name}Item`)}]`;
    if (type !== 'object') return simple[type] ?? 'Any';
    if (isObject(schema)) return this.object(name, schema);
    const { additionalProperties: others } = schema;
    return `Dict[str, ${typeof others === 'object' ? this.typeOf(others, `${name}Value`) : 'Any'}]`;
  }
}

const simple: Readonly<Record<string, string>> = {
  string: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  null: 'None',
};

interface Field {
  field: string;
  type: string;
  about?: string | undefined;
}

function asClass(name: string, fields: readonly Field[], about?: string): string {
  const lines = fields.flatMap(({ field, type, about: text }) => [
    `    ${field}: ${type}`,
    ...(text ? [docstring(text)] : []),
  ]);
  const body = [...(about ? [docstring(about)] : []), ...lines];
  return `class ${name}(TypedDict):\n${body.length === 0 ? '    pass' : body.join('\n')}\n`;
}

// The form for fields whose names are keywords of Python.
function asCall(name: string, fields: readonly Field[]): string {
  const lines = fields.map(({ field, type }) => `        "${field}": ${JSON.stringify(type).replaceAll('\\"', "'")},`);
  return `${name} = TypedDict(\n    "${name}",\n    {\n${lines.join('\n')}\n    },\n)\n`;
}

function isObject({ type, properties }: Schema): boolean {
  return type === 'object' && properties !== undefined;
}

function isName(field: string): boolean {
  return /^[A-Za-z]\w*$/.test(field) && !keywords.has(field);
}

/** A sentence or more as a docstring, indented by so many spaces. */
export function docstring(text: string, indent = 4): string {
  const safe = text.replaceAll('\\', '\\\\').replaceAll('"""', "'''").trim();
  return `${' '.repeat(indent)}"""${safe.endsWith('"') ? `${safe} ` : safe}"""`;
}

function union(types: readonly string[]): string {
  const distinct = [...new Set(types)];
  const some = distinct.filter((type) => type !== 'None');
  const joined = some.length > 1 ? `Union[${some.join(', ')}]` : (some[0] ?? 'None');
  return some.length < distinct.length && some.length > 0 ? `Optional[${joined}]` : joined;
}

function literal(value: unknown): string {
  if (value === null) return 'None';
  return typeof value === 'boolean' ? (value ? 'True' : 'False') : JSON.stringify(value);
}

/** `scheduledFor` becomes `ScheduledFor`. */
export function pascal(name: string): string {
  return name.replaceAll(/(?:^|[^A-Za-z0-9])([A-Za-z0-9])/g, (_, first: string) => first.toUpperCase());
}

/** `scheduledFor` becomes `scheduled_for`. */
export function snake(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
