import highlighter from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import http from 'highlight.js/lib/languages/http';
import json from 'highlight.js/lib/languages/json';
import python from 'highlight.js/lib/languages/python';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import { marked } from 'marked';

for (const [name, language] of Object.entries({ bash, http, json, python, typescript, xml }))
  highlighter.registerLanguage(name, language);

/** The languages of snippets as Markdown names them: what they are called, and what highlights them. */
const languages: Readonly<Record<string, { label: string; highlight: string }>> = {
  sh: { label: 'curl', highlight: 'bash' },
  ts: { label: 'TypeScript', highlight: 'typescript' },
  python: { label: 'Python', highlight: 'python' },
  json: { label: 'JSON', highlight: 'json' },
  html: { label: 'HTML', highlight: 'xml' },
  http: { label: 'HTTP', highlight: 'http' },
  console: { label: 'Terminal', highlight: 'bash' },
};

/** Code in a language. */
export interface Code {
  language: string;
  text: string;
}

/** Text as it stands in HTML, in attributes as well. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** A sentence or more of Markdown without blocks; for paragraphs see `proseHtml`. */
export function inlineHtml(markdown: string): string {
  return marked.parseInline(markdown, { async: false });
}

/** Paragraphs and lists of Markdown. */
export function proseHtml(markdown: string): string {
  return marked.parse(markdown, { async: false });
}

/** One piece of code, or the same in several languages, between which a reader chooses. */
export function snippetHtml(codes: readonly Code[]): string {
  const blocks = codes.map(({ language, text }) => {
    const { label = language, highlight } = languages[language] ?? {};
    const colored =
      highlight === undefined ? escapeHtml(text) : highlighter.highlight(text, { language: highlight }).value;
    // Keyboards scroll what has the focus.
    return `<div class="snippet" data-label="${escapeHtml(label)}"><p class="language">${escapeHtml(label)}</p><pre tabindex="0"><code>${colored}</code></pre></div>`;
  });
  return `<div class="snippets">${blocks.join('')}</div>\n`;
}

/** The parts of an OpenAPI 3.1 document that the reference shows. */
export interface OpenApiDocument {
  info: { title: string; description?: string };
  servers: readonly { url: string }[];
  tags: readonly { name: string; description: string }[];
  paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  components: {
    schemas: Readonly<Record<string, Schema>>;
    parameters: Readonly<Record<string, Parameter>>;
    responses: Readonly<Record<string, Response>>;
    headers: Readonly<Record<string, Header>>;
  };
}

export interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  tags: readonly string[];
  security?: readonly Readonly<Record<string, unknown>>[];
  parameters?: readonly (Parameter | SchemaReference)[];
  requestBody?: { description?: string; content: Readonly<Record<string, Media>> };
  responses: Readonly<Record<string, Response | SchemaReference>>;
}

interface SchemaReference {
  $ref: string;
}

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header' | 'cookie';
  required?: boolean;
  description?: string;
  schema: Schema;
  example?: unknown;
}

interface Media {
  schema?: Schema;
  example?: unknown;
}

export interface Header {
  description: string;
}

export interface Response {
  description: string;
  headers?: Readonly<Record<string, Header | SchemaReference>>;
  content?: Readonly<Record<string, Media>>;
}

export interface Schema {
  $ref?: string;
  type?: string | readonly string[];
  description?: string;
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  items?: Schema;
  additionalProperties?: boolean | Schema;
  anyOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  enum?: readonly unknown[];
  const?: unknown;
  default?: unknown;
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
}

/** Resolves a reference. Returns its target with the last part of its path. */
export function resolve<Part>(
  document: OpenApiDocument,
  part: Part | SchemaReference,
): { name: string | null; part: Part } {
  if (typeof part !== 'object' || part === null || !('$ref' in part) || part.$ref === undefined)
    return { name: null, part: part as Part };
  const [, , kind = '', name = ''] = String(part.$ref).split('/');
  const components = document.components as unknown as Record<string, Record<string, Part>>;
  const found = components[kind]?.[name];
  if (found === undefined) throw new Error(`${part.$ref} leads nowhere`);
  return { name, part: found };
}
