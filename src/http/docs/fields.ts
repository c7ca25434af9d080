import { escapeHtml, inlineHtml, type OpenApiDocument, resolve, type Schema } from './document.ts';

// Deeper objects are named only; a tree of conditions has no end.
const deepest = 4;

/** A field or parameter: its type in words, its description and its limits in Markdown, and what it consists of. */
export interface Field {
  name: string;
  type: string;
  required: boolean;
  text: string;
  facts: string;
  parts: Parts;
}

/** The fields of an object, or the kinds of object that may stand in its place. Both are empty for plain values. */
export interface Parts {
  fields: readonly Field[];
  choices: readonly { title: string; parts: Parts }[];
}

const none: Parts = { fields: [], choices: [] };

/** Whether a schema consists of nothing that can be listed. */
export function isPlain({ fields, choices }: Parts): boolean {
  return fields.length === 0 && choices.length === 0;
}

/** Reads schemas as trees of fields. */
export class FieldReader {
  readonly #document: OpenApiDocument;

  constructor(document: OpenApiDocument) {
    this.#document = document;
  }

  /** Returns the parts of a request or response body. */
  parts(schema: Schema): Parts {
    return this.#parts(schema, []);
  }

  /** One field or parameter. */
  field(name: string, schema: Schema, required: boolean, description?: string, above: readonly string[] = []): Field {
    const { part } = resolve<Schema>(this.#document, schema);
    const text = description ?? schema.description ?? part.description ?? '';
    const [type, facts] = [this.typeOf(schema), factsOf(this.#narrow(schema))];
    return { name, type, required, text, facts, parts: this.#parts(schema, above) };
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

  #parts(schema: Schema, above: readonly string[]): Parts {
    const { name, part } = resolve<Schema>(this.#document, schema);
    if (above.length > deepest || (name !== null && above.includes(name))) return none;
    const path = [...above, name ?? ''];
    const choices = (part.anyOf ?? part.oneOf)?.filter(({ type }) => type !== 'null');
    if (choices !== undefined) {
      if (choices.length === 1 && choices[0] !== undefined) return this.#parts(choices[0], path);
      const shown = choices.map((choice) => ({ title: this.typeOf(choice), parts: this.#parts(choice, path) }));
      return { fields: [], choices: shown.filter(({ parts }) => !isPlain(parts)) };
    }
    if (part.items !== undefined) return this.#parts(part.items, path);
    if (typeof part.additionalProperties === 'object' && part.properties === undefined)
      return this.#parts(part.additionalProperties, path);
    const required = new Set(part.required);
    const fields = Object.entries(part.properties ?? {}).map(([field, inner]) =>
      this.field(field, inner, required.has(field), undefined, path),
    );
    return { fields, choices: [] };
  }
}

/** A list of fields in HTML; what they consist of is folded. */
export function fieldsHtml(fields: readonly Field[]): string {
  return fields.length === 0 ? '' : `<dl class="fields">${fields.map(fieldHtml).join('\n')}</dl>`;
}

export function partsHtml({ fields, choices }: Parts): string {
  const folded = choices.map(
    ({ title, parts }) => `<details><summary>As ${escapeHtml(title)}</summary>${partsHtml(parts)}</details>`,
  );
  return `${fieldsHtml(fields)}${folded.join('')}`;
}

function fieldHtml({ name, type, required, text, facts, parts }: Field): string {
  const inner = partsHtml(parts);
  return `<dt><code>${escapeHtml(name)}</code> <span class="type">${escapeHtml(type)}</span>${required ? ' <span class="required">required</span>' : ''}</dt>
<dd>${text === '' ? '' : `<p>${inlineHtml(text)}</p>`}${facts === '' ? '' : `<p class="facts">${inlineHtml(facts)}</p>`}${
    inner === '' ? '' : `<details><summary>Fields of <code>${escapeHtml(name)}</code></summary>${inner}</details>`
  }</dd>`;
}

/** The same as nested lists of Markdown. */
export function partsMarkdown({ fields, choices }: Parts, indent = ''): string {
  const kinds = choices.map(({ title, parts }) => `${indent}- As ${title}:\n${partsMarkdown(parts, `${indent}  `)}`);
  return [...fields.map((field) => fieldMarkdown(field, indent)), ...kinds].join('\n');
}

function fieldMarkdown({ name, type, required, text, facts, parts }: Field, indent: string): string {
  const about = [text, facts].filter(Boolean).join(' ').replaceAll(/\s+/g, ' ');
  const line = `${indent}- \`${name}\` (${type}${required ? ', required' : ''})${about === '' ? '' : `: ${about}`}`;
  return isPlain(parts) ? line : `${line}\n${partsMarkdown(parts, `${indent}  `)}`;
}

// In Markdown.
function factsOf(schema: Schema): string {
  const { default: value, minimum, maximum, minLength, maxLength, minItems, maxItems } = schema;
  const values = schema.enum ?? schema.items?.enum;
  const facts = [
    values === undefined ? '' : `One of ${values.map((one) => `\`${String(one)}\``).join(', ')}.`,
    value === undefined ? '' : `Default: \`${JSON.stringify(value)}\`.`,
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
