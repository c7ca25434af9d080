import { type Method, methods } from './methods.ts';
import { type Document, docstring, type Operation, PythonTypes, pascal, type Schema, snake } from './python-types.ts';

/** The generated modules of the client for Python, by their names. `operations` has method, path and `once` by operation. */
export function pythonModules(
  document: Document,
  operations: Readonly<Record<string, readonly [string, string, 'once'?]>>,
): Record<string, string> {
  const types = new PythonTypes(document.components.schemas);
  for (const name of Object.keys(document.components.schemas))
    types.typeOf({ $ref: `#/components/schemas/${name}` }, name);
  const byId = new Map(
    Object.values(document.paths).flatMap((paths) => Object.values(paths).map((one) => [one.operationId, one])),
  );
  const writer = new MethodWriter(byId, operations, types);
  const modules = { '_methods.py': writer.module(false), '_async_methods.py': writer.module(true) };
  return { ...modules, 'types.py': typesModule(types), '_operations.py': operationsModule(operations) };
}

const header = '# Written by generate-types.ts.\nfrom __future__ import annotations\n';

function typesModule(types: PythonTypes): string {
  return `"""Types of requests and responses. They are dictionaries at run time."""

${header}
import sys
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Optional, TypedDict, Union

if TYPE_CHECKING:
    from typing_extensions import NotRequired, TypeAlias
elif sys.version_info >= (3, 11):
    from typing import NotRequired, TypeAlias
else:
    # What evaluates the annotations of older versions sees a field that may be None.
    NotRequired = Optional
    TypeAlias = Any


${types.text}

#: A recipient of \`send\` with the ID of their email.
SentEmail: TypeAlias = "SendEmailResultDataEmailsItem"
#: The outcome of an item of \`send_batch\`.
BatchOutcome: TypeAlias = "SendEmailBatchResultDataResultsItem"
`;
}

function operationsModule(operations: Readonly<Record<string, readonly [string, string, 'once'?]>>): string {
  const rows = Object.entries(operations).map(
    ([id, [method, path, once]]) => `    "${id}": ("${method}", "${path}", ${once === undefined ? 'False' : 'True'}),`,
  );
  return `"""Every operation of the API that takes a key."""

${header}
from typing import Dict, Tuple

#: Method and path of each operation, and whether an Idempotency-Key makes repeating it safe.
operations: Dict[str, Tuple[str, str, bool]] = {
${rows.join('\n')}
}
`;
}

/** Names under which lists have their items, as in the SDK. */
const itemNames = ['data', 'events', 'eventNames', 'emails', 'images', 'activities', 'types', 'invoices'];

interface Placed {
  method: Method;
  operation: Operation;
  path: string;
  isAsync: boolean;
}

class MethodWriter {
  readonly #operations: ReadonlyMap<string, Operation>;
  readonly #table: Readonly<Record<string, readonly [string, string, 'once'?]>>;
  readonly #types: PythonTypes;
  readonly #document: (schema: Schema) => Schema;

  constructor(
    operations: ReadonlyMap<string, Operation>,
    table: Readonly<Record<string, readonly [string, string, 'once'?]>>,
    types: PythonTypes,
  ) {
    this.#operations = operations;
    this.#table = table;
    this.#types = types;
    this.#document = (schema) => types.resolved(schema);
  }

  module(isAsync: boolean): string {
    const [prefix, client] = isAsync ? ['Async', 'AsyncFernpost'] : ['', 'Fernpost'];
    const [base, resource] = isAsync ? ['AsyncClient', 'AsyncResource'] : ['Client', 'Resource'];
    const kinds = Object.keys(methods).filter((name) => name !== '');
    const classes = kinds.map(
      (name) => `class ${prefix}${pascal(name)}(${resource}):\n${this.#methods(name, isAsync)}`,
    );
    const fields = kinds.map((name) => `        self.${name} = ${prefix}${pascal(name)}(self)`);
    return `"""The methods of the client${isAsync ? ' for asyncio' : ''}."""

${header}
from typing import TYPE_CHECKING, Any, BinaryIO, Dict, List, Literal, Optional, Union

from ._${isAsync ? 'async_' : ''}client import ${base}, ${resource}
from ._pages import ${isAsync ? 'AsyncPages' : 'Page'}

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from . import types
    from ._http import CallOptions, ClientOptions


${classes.join('\n\n')}

class ${client}(${base}):
    """A client of the API of one project${isAsync ? ', for asyncio' : ''}. \`call\` and \`pages\` reach every operation by its name."""

    def __init__(self, base_url: str, key: str, **options: Unpack[ClientOptions]) -> None:
        super().__init__(base_url, key, **options)
${fields.join('\n')}

${this.#methods('', isAsync)}`;
  }

  #methods(resource: string, isAsync: boolean): string {
    const entries = Object.entries(methods[resource] ?? {});
    return entries
      .map(([name, method]) => {
        const operation = this.#operations.get(method.operation);
        const [, path] = this.#table[method.operation] ?? [];
        if (operation === undefined || path === undefined) throw new Error(`There is no operation ${method.operation}`);
        const placed = { method, operation, path, isAsync };
        return method.wait === undefined ? this.#method(name, placed) : this.#waiting(name, placed);
      })
      .join('\n');
  }

  #method(name: string, placed: Placed): string {
    const { method, isAsync } = placed;
    const { parameters, values } = this.#input(placed);
    const reply = this.#reply(placed);
    const call = [`"${method.operation}"`, ...values, '**options'].join(', ');
    const signature = ['self', ...parameters, '**options: Unpack[CallOptions]'].join(', ');
    if (method.list) {
      const result = `${isAsync ? 'AsyncPages' : 'Page'}[${reply}]`;
      return this.#def('', name, signature, result, placed, [`return self._client.pages(${call})`]);
    }
    const client = this.#isOfClient(placed, name) ? 'self' : 'self._client';
    const take = (method.take ?? '')
      .split('.')
      .filter(Boolean)
      .map((field) => `["${field}"]`);
    const called = `${isAsync ? 'await ' : ''}${client}.call(${call})`;
    const result = take.length === 0 ? called : `(${called})${take.join('')}`;
    // The value is JSON, of which a type checker knows nothing.
    const lines = reply === 'None' ? [called] : [`result: ${reply} = ${result}`, 'return result'];
    return this.#def(isAsync ? 'async ' : '', name, signature, reply, placed, lines);
  }

  #waiting(name: string, placed: Placed): string {
    const { method, isAsync } = placed;
    const { wait } = method;
    if (wait === undefined) return '';
    const [async_, await_] = isAsync ? ['async ', 'await '] : ['', ''];
    const reply = this.#reply(placed);
    const until = `lambda value: bool(${wait.until})`;
    const poll = (args: string) =>
      `return ${await_}self._client.poll(lambda: self.${wait.calls}(${args}, **options), ${until}, every)`;
    const rest = '*, every: float = 1.0, **options: Unpack[CallOptions]';
    if (wait.after === undefined) return this.#def(async_, name, `self, id: str, ${rest}`, reply, placed, [poll('id')]);
    const first = this.#operations.get(methods.campaigns?.[wait.after]?.operation ?? '');
    const body = first === undefined ? 'Any' : this.#bodyType(first);
    return this.#def(async_, name, `self, id: str, body: Optional[${body}] = None, ${rest}`, reply, placed, [
      `started = ${await_}self.${wait.after}(id, body, **options)`,
      poll('id, int(started["n"])'),
    ]);
  }

  #def(
    async_: string,
    name: string,
    signature: string,
    reply: string,
    placed: Placed,
    lines: readonly string[],
  ): string {
    const { summary = '', description = '' } = placed.operation;
    const about = placed.method.about ?? [summary && `${summary}.`, description].filter(Boolean).join(' ');
    const body = lines.map((line) => `        ${line}`).join('\n');
    return `    ${async_}def ${name}(${signature}) -> ${reply}:\n${docstring(about, 8)}\n${body}\n`;
  }

  #isOfClient({ method }: Placed, name: string): boolean {
    return methods['']?.[name] === method;
  }

  /** The parameters of a method, and what it hands on to `call`. */
  #input({ method, operation, path }: Placed): { parameters: string[]; values: string[] } {
    const { fields, fixed, project, defaults = {}, path: renamed = {} } = method;
    const names = Object.fromEntries(Object.entries(renamed).map(([own, theirs]) => [theirs, own]));
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name).filter((name) => name !== project);
    const own = inPath.map((theirs) => ({ theirs, name: names[theirs] ?? snake(theirs) }));
    const parameters = own.map(({ name }) =>
      defaults[name] === undefined ? `${name}: str` : `${name}: Union[int, str] = "${defaults[name]}"`,
    );
    const values: string[] = [];
    if (own.length > 0) values.push(`path={${own.map(({ theirs, name }) => `"${theirs}": ${name}`).join(', ')}}`);
    if (project !== undefined) values.push(`project="${project}"`);
    const query = this.#queryType(operation);
    if (query !== null) {
      parameters.push(`query: Optional[${query}] = None`);
      values.push('query=query');
    }
    if (fixed !== undefined)
      values.push(
        `body={${Object.entries(fixed)
          .map(([name, value]) => `"${name}": ${value === true ? 'True' : 'False'}`)
          .join(', ')}}`,
      );
    else if (fields !== undefined) {
      parameters.push(...Object.keys(fields).map((name) => `${name}: str`));
      values.push(
        `body={${Object.entries(fields)
          .map(([name, field]) => `"${field}": ${name}`)
          .join(', ')}}`,
      );
    } else if (operation.requestBody?.content?.['multipart/form-data'] !== undefined) {
      // A form has further parts, of which its operation says what they mean.
      parameters.push('file: Union[bytes, BinaryIO]', 'fields: Optional[Dict[str, str]] = None');
      values.push('file=file', 'fields=fields');
    } else if (operation.requestBody !== undefined) {
      const type = this.#bodyType(operation);
      parameters.push(operation.requestBody.required ? `body: ${type}` : `body: Optional[${type}] = None`);
      values.push('body=body');
    }
    return { parameters, values };
  }

  #bodyType({ operationId, requestBody }: Operation): string {
    const schema = requestBody?.content?.['application/json']?.schema ?? {};
    return qualified(this.#types.typeOf(schema, `${pascal(operationId)}Request`));
  }

  #queryType({ operationId, parameters = [] }: Operation): string | null {
    const own = parameters.filter((one) => one.in === 'query' && one.name !== undefined);
    if (own.length === 0) return null;
    const properties = Object.fromEntries(
      own.map(({ name, schema, description }) => [name, { ...schema, ...(description && { description }) }]),
    );
    const required = own.filter((one) => one.required).map(({ name = '' }) => name);
    return qualified(
      this.#types.object(`${pascal(operationId)}Query`, this.#query(operationId, { properties, required })),
    );
  }

  readonly #queries = new Map<string, Schema>();
  #query(id: string, schema: Schema): Schema {
    const kept = this.#queries.get(id) ?? schema;
    this.#queries.set(id, kept);
    return kept;
  }

  /** The type that a method returns; for a list, that of an item. */
  #reply({ method, operation }: Placed): string {
    const { operationId, responses = {} } = operation;
    const [, answer] = Object.entries(responses).find(([status]) => /^2/.test(status)) ?? [];
    const { 'application/json': json, ...texts } = answer?.content ?? {};
    if (json?.schema === undefined) return Object.keys(texts).length > 0 ? 'str' : 'None';
    let place = { schema: json.schema, name: `${pascal(operationId)}Response` };
    const enter = (field: string) => {
      const schema = this.#document(place.schema).properties?.[field];
      if (schema === undefined) throw new Error(`${operationId} returns no ${field}`);
      place = { schema, name: `${place.name}${pascal(field)}` };
    };
    for (const field of (method.take ?? '').split('.').filter(Boolean)) enter(field);
    if (method.list) {
      const { type, properties = {} } = this.#document(place.schema);
      if (type !== 'array') enter(itemNames.find((name) => properties[name]?.type === 'array') ?? 'data');
      place = { schema: this.#document(place.schema).items ?? {}, name: `${place.name}Item` };
    }
    return qualified(this.#types.typeOf(place.schema, place.name));
  }
}

/** A type as other modules write it: with the module of the names that are not of `typing`. */
function qualified(type: string): string {
  return type.replaceAll(/"[^"]*"|\b[A-Za-z]\w*/g, (name) =>
    known.has(name) || name.startsWith('"') ? name : `types.${name}`,
  );
}

const known = new Set([
  'Any',
  'Dict',
  'List',
  'Literal',
  'Optional',
  'Union',
  'None',
  'True',
  'False',
  'str',
  'int',
  'float',
  'bool',
]);
