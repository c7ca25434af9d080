import {
  escapeHtml,
  type Header,
  inlineHtml,
  type OpenApiDocument,
  type Operation,
  type Parameter,
  proseHtml,
  type Response,
  resolve,
  type Schema,
  snippetHtml,
} from './document.ts';
import type { Placed } from './examples/request.ts';
import { examplesOf } from './examples.ts';
import { type Field, FieldReader, fieldsHtml, isPlain, type Parts, partsHtml, partsMarkdown } from './fields.ts';
import { type Guide, plainText, type SearchEntry } from './guides.ts';

/** The API reference: an overview, and a page for each tag of the document. */
export class Reference {
  readonly #document: OpenApiDocument;
  readonly #fields: FieldReader;
  readonly #operations: readonly Placed[];

  constructor(document: OpenApiDocument) {
    this.#document = document;
    this.#fields = new FieldReader(document);
    // Routes that also stand below /v1 are the same with another sign-in; readers want them once.
    this.#operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(() => document.paths[`/v1${path}`] === undefined)
        .map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
    );
  }

  /** Tags that have operations, with the last part of the address of their page. */
  tags(): { slug: string; title: string; description: string }[] {
    return this.#document.tags
      .filter(({ name }) => this.#of(name).length > 0)
      .map(({ name, description }) => ({ slug: slugOf(name), title: name, description }));
  }

  /** The operations, their fields and the errors, for the search. A field that several operations of a tag share is found once. */
  *entries(): Generator<SearchEntry> {
    const seen = new Set<string>();
    for (const operation of this.#operations) {
      const {
        summary,
        method,
        path,
        operationId,
        description = '',
        tags: [tag = ''],
      } = operation;
      const address = `/docs/reference/${slugOf(tag)}#${operationId}`;
      yield { title: summary, place: `${method} ${path}`, text: plainText(description), address };
      for (const { name, text, facts } of this.#fieldsOf(operation)) {
        const entry = { title: name, place: `Field · ${tag} API`, text: plainText(`${text} ${facts}`) };
        const key = JSON.stringify(entry);
        if (seen.has(key)) continue;
        seen.add(key);
        yield { ...entry, address };
      }
    }
    for (const [name, { description }] of Object.entries(this.#document.components.responses))
      yield {
        title: name.replace(/^Error(?=\d)/, 'Error '),
        place: 'Errors',
        text: plainText(description),
        address: '/docs/reference#errors',
      };
  }

  // Parameters and fields at every depth of what is sent and returned.
  #fieldsOf(operation: Operation): Field[] {
    const responses = Object.values(operation.responses)
      .map((response) => resolve<Response>(this.#document, response))
      .flatMap(({ name, part }) => (name === null ? Object.values(part.content ?? {}) : []));
    const bodies = [...Object.values(operation.requestBody?.content ?? {}), ...responses];
    const parts = bodies.flatMap(({ schema }) => (schema === undefined ? [] : [this.#fields.parts(schema)]));
    return [...this.#parameters(operation).flatMap(({ fields }) => fields), ...parts.flatMap(flattened)];
  }

  overview(): Guide {
    const tags = this.tags().map(
      ({ slug, title, description }) =>
        `<h2 id="${slug}"><a href="/docs/reference/${slug}">${escapeHtml(title)}</a></h2>\n<p>${inlineHtml(description)}</p>\n${this.#list(title, `/docs/reference/${slug}`)}`,
    );
    const html = `<h1>API reference</h1>
<p class="route">Base URL <code>${escapeHtml(this.#document.servers[0]?.url ?? '')}</code> · <a href="/openapi.json">OpenAPI 3.1 document</a></p>
${proseHtml(this.#document.info.description ?? '')}
${proseHtml(aboutExamples)}
${this.#errors()}
${tags.join('\n')}`;
    return { title: 'API reference', html, sections: [] };
  }

  /** The page of a tag, or null when no tag has this slug. */
  page(slug: string): Guide | null {
    const tag = this.tags().find((one) => one.slug === slug);
    if (tag === undefined) return null;
    const operations = this.#of(tag.title);
    const html = `<h1>${escapeHtml(tag.title)}</h1>
<p class="lead">${inlineHtml(tag.description)}</p>
${this.#list(tag.title, '')}
${operations.map((operation) => this.#operation(operation)).join('\n')}`;
    return {
      title: `${tag.title} API`,
      html,
      sections: operations.map(({ operationId, summary }) => ({ id: operationId, title: summary })),
    };
  }

  /** The overview in Markdown. */
  overviewMarkdown(): string {
    const { info, servers, components } = this.#document;
    const tags = this.tags().map(({ slug, title, description }) => {
      const operations = this.#of(title).map(({ method, path, summary }) => `- \`${method} ${path}\`: ${summary}`);
      return `## [${title}](/docs/reference/${slug}.md)\n\n${description}\n\n${operations.join('\n')}`;
    });
    const errors = Object.entries(components.responses).map(
      ([name, { description }]) => `- ${name.replace('Error', '')}: ${description}`,
    );
    const error = components.schemas.Error === undefined ? '' : this.#bodyMarkdown(components.schemas.Error);
    return blocks([
      '# API reference',
      `Base URL: ${servers[0]?.url ?? ''}. OpenAPI 3.1 document: /openapi.json`,
      info.description ?? '',
      aboutExamples,
      '## Errors',
      errors.join('\n'),
      error,
      ...tags,
    ]);
  }

  /** The page of a tag in Markdown, or null when no tag has this slug. */
  pageMarkdown(slug: string): string | null {
    const tag = this.tags().find((one) => one.slug === slug);
    if (tag === undefined) return null;
    const operations = this.#of(tag.title).map((operation) => this.#operationMarkdown(operation));
    return blocks([`# ${tag.title} API`, tag.description, ...operations]);
  }

  #operationMarkdown(operation: Placed): string {
    const { summary, description = '', method, path, requestBody } = operation;
    const bodies = Object.entries(requestBody?.content ?? {}).flatMap(([type, { schema }]) => [
      `### Body`,
      `\`${type}\`${requestBody?.description === undefined ? '' : ` · ${requestBody.description}`}`,
      schema === undefined ? '' : this.#bodyMarkdown(schema),
    ]);
    const responses = Object.entries(operation.responses).flatMap(([code, response]) => {
      const { name: shared, part } = resolve<Response>(this.#document, response);
      const content = shared === null ? Object.entries(part.content ?? {}) : [];
      return [
        `**${code === 'default' ? 'Other' : code}** ${part.description}`,
        ...content.flatMap(([type, { schema }]) => [
          `\`${type}\``,
          schema === undefined ? '' : this.#bodyMarkdown(schema),
        ]),
      ];
    });
    return blocks([
      `## ${summary}`,
      `\`${method} ${path}\``,
      description,
      ...examplesOf(this.#document, operation).map(({ language, text }) => `\`\`\`${language}\n${text}\n\`\`\``),
      ...this.#parameters(operation).flatMap(({ title, fields }) => [
        `### ${title}`,
        partsMarkdown({ fields, choices: [] }),
      ]),
      ...bodies,
      '### Responses',
      ...responses,
    ]).trim();
  }

  #bodyMarkdown(schema: Schema): string {
    const parts = this.#fields.parts(schema);
    return isPlain(parts) ? this.#fields.typeOf(schema) : partsMarkdown(parts);
  }

  #errors(): string {
    const { schemas, responses } = this.#document.components;
    const rows = Object.entries(responses).map(
      ([name, { description }]) => `<li><code>${name.replace('Error', '')}</code> ${inlineHtml(description)}</li>`,
    );
    return `<h2 id="errors">Errors</h2>\n<ul>${rows.join('\n')}</ul>\n${schemas.Error === undefined ? '' : this.#body(schemas.Error)}`;
  }

  #of(tag: string): Placed[] {
    return this.#operations.filter(({ tags }) => tags[0] === tag);
  }

  #list(tag: string, address: string): string {
    const items = this.#of(tag).map(
      ({ operationId, method, path }) =>
        `<li><a href="${address}#${operationId}">${methodHtml(method)} <code>${escapeHtml(path)}</code></a></li>`,
    );
    return `<ul class="operations">${items.join('\n')}</ul>`;
  }

  #operation(operation: Placed): string {
    const { operationId, summary, description = '', method, path, requestBody } = operation;
    const groups = this.#parameters(operation).map(({ title, fields }) => `<h3>${title}</h3>\n${fieldsHtml(fields)}`);
    const bodies = Object.entries(requestBody?.content ?? {}).map(
      ([type, { schema }]) =>
        `<h3>Body</h3>\n<p class="facts"><code>${escapeHtml(type)}</code>${requestBody?.description === undefined ? '' : ` · ${inlineHtml(requestBody.description)}`}</p>${schema === undefined ? '' : this.#body(schema)}`,
    );
    const answers = Object.entries(operation.responses).map(([code, answer]) => this.#answer(code, answer));
    return `<section class="operation" aria-labelledby="${operationId}">
<h2 id="${operationId}"><a class="anchor" href="#${operationId}">${escapeHtml(summary)}</a></h2>
<p class="route">${methodHtml(method)} <code>${escapeHtml(path)}</code></p>
<p>${inlineHtml(description)}</p>
${snippetHtml(examplesOf(this.#document, operation))}
${groups.join('\n')}
${bodies.join('\n')}
<h3>Responses</h3>
${answers.join('\n')}
</section>`;
  }

  // The parameters in the order of their places; places without any are left out.
  #parameters(operation: Operation): { title: string; fields: Field[] }[] {
    const parameters = (operation.parameters ?? []).map((one) => resolve<Parameter>(this.#document, one).part);
    const groups = (['path', 'query', 'header'] as const).map((place) => ({
      title: parameterTitles[place],
      fields: parameters
        .filter((parameter) => parameter.in === place)
        .map(({ name, schema, required = false, description }) =>
          this.#fields.field(name, schema, required, description),
        ),
    }));
    return groups.filter(({ fields }) => fields.length > 0);
  }

  // The fields of a body, or its type where it has none.
  #body(schema: Schema): string {
    const parts = this.#fields.parts(schema);
    return isPlain(parts) ? `<p>${escapeHtml(this.#fields.typeOf(schema))}</p>` : partsHtml(parts);
  }

  #answer(code: string, answer: Operation['responses'][string]): string {
    const { name: shared, part } = resolve<Response>(this.#document, answer);
    const { description, headers = {}, content = {} } = part;
    const summary = `<span class="status">${code === 'default' ? 'Other' : code}</span> ${inlineHtml(description)}`;
    // The overview describes the errors that every operation may return.
    if (shared !== null) return `<p class="answer">${summary} <a href="/docs/reference#errors">Errors</a></p>`;
    const names = Object.entries(headers).map(([name, header]) => {
      const { description: text } = resolve<Header>(this.#document, header).part;
      return `<dt><code>${escapeHtml(name)}</code> <span class="type">header</span></dt><dd><p>${inlineHtml(text)}</p></dd>`;
    });
    const bodies = Object.entries(content).map(
      ([type, { schema }]) =>
        `<p class="facts"><code>${escapeHtml(type)}</code></p>${schema === undefined ? '' : this.#body(schema)}`,
    );
    return `<details class="answer"><summary>${summary}</summary>${bodies.join('\n')}<dl class="fields">${names.join('\n')}</dl></details>`;
  }
}

const aboutExamples =
  '**Examples** in TypeScript and Python use the client `fernpost` of the [quick start](/docs/quick-start#set-up-your-client). Operations that take no key are called with `fetch` and `httpx`.';

const parameterTitles = { path: 'Path parameters', query: 'Query parameters', header: 'Headers' } as const;

function flattened({ fields, choices }: Parts): Field[] {
  return [
    ...fields.flatMap((field) => [field, ...flattened(field.parts)]),
    ...choices.flatMap(({ parts }) => flattened(parts)),
  ];
}

// Blocks of Markdown, each after an empty line.
function blocks(parts: readonly string[]): string {
  return `${parts.filter(Boolean).join('\n\n')}\n`;
}

function methodHtml(method: string): string {
  return `<span class="method ${method.toLowerCase()}">${method}</span>`;
}

function slugOf(tag: string): string {
  return tag.toLowerCase().replaceAll(/\W+/g, '-');
}
