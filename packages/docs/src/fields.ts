import { type OpenApiDocument, resolve, type Schema } from './document.ts';
import { escapeHtml, inlineHtml } from './html.ts';

// Deeper objects are named only; a tree of conditions has no end.
const deepest = 4;

/** Writes schemas as lists of fields, each with its type, whether it is required, what it means and what it consists of. */
export class FieldWriter {
  readonly #document: OpenApiDocument;

  constructor(document: OpenApiDocument) {
    this.#document = document;
  }

  /** What a body or an answer consists of: its fields, or its type where it has none. */
  body(schema: Schema): string {
    const inner = this.#parts(schema, []);
    return inner === '' ? `<p>${escapeHtml(this.typeOf(schema))}</p>` : inner;
  }

  /** One field or parameter. */
  field(name: string, schema: Schema, required: boolean, description?: string, above: readonly string[] = []): string {
    const { part } = resolve<Schema>(this.#document, schema);
    const text = description ?? schema.description ?? part.description ?? '';
    const facts = factsOf(this.#narrow(schema));
    const inner = this.#parts(schema, above);
    return `<dt><code>${escapeHtml(name)}</code> <span class="type">${escapeHtml(this.typeOf(schema))}</span>${required ? ' <span class="required">required</span>' : ''}</dt>
<dd>${text === '' ? '' : `<p>${inlineHtml(text)}</p>`}${facts === '' ? '' : `<p class="facts">${facts}</p>`}${
      inner === '' ? '' : `<details><summary>Fields of <code>${escapeHtml(name)}</code></summary>${inner}</details>`
    }</dd>`;
  }

  /** The type in a word or a few: `string or null`, `list of Contact`. */
  typeOf(schema: Schema): string {
    const { name, part } = resolve<Schema>(this.#document, schema);
    if (name !== null && (part.properties !== undefined || part.anyOf !== undefined)) return name;
    const choices = part.anyOf ?? part.oneOf;
    if (choices !== undefined) return [...new Set(choices.map((choice) => this.typeOf(choice)))].join(' or ');
    if (part.items !== undefined) return `list of ${this.typeOf(part.items)}`;
    if (part.const !== undefined) return JSON.stringify(part.const);
    const type = Array.isArray(part.type) ? part.type.join(' or ') : (part.type as string | undefined);
    if (type === 'string' && part.format !== undefined) return part.format;
    return type ?? 'any';
  }

  // The choice that is neither null nor a plain value is what has facts and fields.
  #narrow(schema: Schema): Schema {
    const { part } = resolve<Schema>(this.#document, schema);
    const choices = (part.anyOf ?? part.oneOf)?.filter(({ type }) => type !== 'null') ?? [];
    return choices.length === 1 && choices[0] !== undefined ? this.#narrow(choices[0]) : part;
  }

  #parts(schema: Schema, above: readonly string[]): string {
    const { name, part } = resolve<Schema>(this.#document, schema);
    if (above.length > deepest || (name !== null && above.includes(name))) return '';
    const path = [...above, name ?? ''];
    const choices = (part.anyOf ?? part.oneOf)?.filter(({ type }) => type !== 'null');
    if (choices !== undefined) {
      if (choices.length === 1 && choices[0] !== undefined) return this.#parts(choices[0], path);
      const shown = choices.map((choice) => ({ title: this.typeOf(choice), inner: this.#parts(choice, path) }));
      return shown
        .filter(({ inner }) => inner !== '')
        .map(({ title, inner }) => `<details><summary>As ${escapeHtml(title)}</summary>${inner}</details>`)
        .join('');
    }
    if (part.items !== undefined) return this.#parts(part.items, path);
    if (typeof part.additionalProperties === 'object') {
      const inner = this.#parts(part.additionalProperties, path);
      if (part.properties === undefined) return inner;
    }
    const fields = Object.entries(part.properties ?? {});
    if (fields.length === 0) return '';
    const required = new Set(part.required);
    return `<dl class="fields">${fields
      .map(([field, inner]) => this.field(field, inner, required.has(field), undefined, path))
      .join('\n')}</dl>`;
  }
}

function factsOf(schema: Schema): string {
  const { default: value, minimum, maximum, minLength, maxLength, minItems, maxItems } = schema;
  const values = schema.enum ?? schema.items?.enum;
  const facts = [
    values === undefined ? '' : `One of ${values.map((one) => `<code>${escapeHtml(String(one))}</code>`).join(', ')}.`,
    value === undefined ? '' : `Default: <code>${escapeHtml(JSON.stringify(value))}</code>.`,
    span(minimum, maximum, ''),
    maxLength === undefined ? '' : span(undefined, maxLength, ' characters'),
    minLength === undefined || minLength < 2 ? '' : span(minLength, undefined, ' characters'),
    span(minItems, maxItems, ' items'),
  ];
  return facts.filter(Boolean).join(' ');
}

function span(least: number | undefined, most: number | undefined, unit: string): string {
  const figure = (value: number) => value.toLocaleString('en-US');
  if (least !== undefined && most !== undefined) return `${figure(least)} to ${figure(most)}${unit}.`;
  if (least !== undefined) return `At least ${figure(least)}${unit}.`;
  return most === undefined ? '' : `At most ${figure(most)}${unit}.`;
}
