import fc from 'fast-check';
import { buildVariables, type Variables } from '../src/variables.ts';

/** Names that the generated templates use. */
const names = ['name', 'plan', 'items', 'profile', 'first name', 'url', 'n', 'empty'];

// Text with everything in it that means something to HTML, to Liquid, or to the layout of text.
const trickyText = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    'Ada',
    'Zoë  Ωmega',
    "O'Brien & Sons",
    '<b>bold</b>',
    '</p><script>alert(1)</script>',
    '"quoted" \'too\'',
    '{{ name }} {% if x %}',
    '&amp; &lt;i&gt; &#60;',
    'line one\nline two\r\n\tthree',
    'https://example.com/?a=1&b=2&copy=3',
    '\u0001\u0002 control \u0007',
    '\u00a0padded\u200b ',
    '0',
  ),
  fc.string({ maxLength: 12, unit: 'binary' }),
);

const scalar = fc.oneof(
  trickyText,
  fc.integer({ min: -3, max: 1000 }),
  fc.boolean(),
  fc.constant(null),
  fc.double({ noNaN: true, min: -9, max: 9 }),
);
const anyValue = fc.oneof(
  { weight: 5, arbitrary: scalar },
  {
    weight: 2,
    arbitrary: fc.array(fc.oneof(scalar, fc.record({ name: scalar, n: scalar }, { noNullPrototype: true })), {
      maxLength: 4,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.dictionary(fc.constantFrom('name', 'tier', 'size', 'first', 'toString', 'length'), scalar, {
      maxKeys: 3,
      noNullPrototype: true,
    }),
  },
);

/** Data of a contact or a request under the names that the templates use. */
export const someData = fc.dictionary(fc.constantFrom(...names), anyValue, {
  maxKeys: names.length,
  noNullPrototype: true,
});

/** Data that is text only. */
export const someTexts = fc.dictionary(fc.constantFrom(...names), trickyText, {
  maxKeys: names.length,
  noNullPrototype: true,
});

/** Variables of a contact, with the data of a request or an automation's context beside it. */
export const someVariables: fc.Arbitrary<Variables> = fc
  .record({ data: someData, requestData: fc.option(someData), event: fc.option(someData, { freq: 4 }) })
  .map(({ data, requestData, event }) => variablesOf(data, requestData, event));

/** Variables of one contact with the given data. */
export function variablesOf(
  data: Record<string, unknown>,
  requestData: Record<string, unknown> | null = null,
  event: Record<string, unknown> | null = null,
): Variables {
  return buildVariables({
    contact: { id: '0190a1f4-0000-7000-8000-000000000001', email: "o'brien@example.com", subscribed: true, data },
    requestData,
    event,
    urls: {
      unsubscribeUrl: 'https://mail.example/unsubscribe/1?e=2&t=3',
      subscribeUrl: 'https://mail.example/subscribe/1?e=2&t=3',
      manageUrl: 'https://mail.example/manage/1?e=2&t=3',
    },
  });
}

const path = fc.constantFrom(
  'name',
  'plan',
  'items',
  'items.size',
  'items[0]',
  'items.first.name',
  'profile.tier',
  'profile.size',
  'data.name',
  'data["first name"]',
  'first name',
  'url',
  'n',
  'missing',
  'email',
  'unsubscribeUrl',
  'item',
  'item.name',
  'forloop.index',
  'made',
  'data',
);
const tagPath = path.filter((one) => !one.includes(' ') || one.includes('['));
const literal = fc.constantFrom('"x"', "'pro'", '3', '0', 'true', 'nil', 'empty', 'blank');
const filter = fc.constantFrom(
  ' | upcase',
  ' | escape',
  ' | escape_once',
  ' | strip',
  ' | default: "friend"',
  ' | append: "!"',
  ' | append: name',
  ' | newline_to_br',
  ' | join: ", "',
  ' | size',
  ' | plus: 1',
  ' | truncate: 5',
  ' | raw',
  ' | url_encode',
  ' | sort',
  ' | first',
  ' | unknown_filter: 2',
  ' | date: "%Y"',
  ' | replace: "a", "<"',
  ' | split: "a"',
  ' | json',
);
const filters = fc.array(filter, { maxLength: 3 }).map((all) => all.join(''));

const output = fc.oneof(
  fc.tuple(path, filters).map(([one, all]) => `{{ ${one}${all} }}`),
  fc.tuple(path, fc.constantFrom('there', '"a ?? b"', '')).map(([one, other]) => `{{${one} ?? ${other}}}`),
  fc.tuple(literal, filters).map(([one, all]) => `{{- ${one}${all} -}}`),
);

const condition = fc.oneof(
  tagPath,
  fc
    .tuple(tagPath, fc.constantFrom('==', '!=', '>', '<=', 'contains'), fc.oneof(literal, tagPath))
    .map((parts) => parts.join(' ')),
  fc.tuple(tagPath, fc.constantFrom('and', 'or'), tagPath).map((parts) => parts.join(' ')),
);

/** How deep the generated templates nest, and what stands between their tags. */
export interface TemplateShape {
  text: fc.Arbitrary<string>;
  /** Wraps what is inside a block, such as in an element. */
  around: (inside: string) => string;
  /** Whether parts of the language that are not compiled may occur. */
  everything: boolean;
}

/** Templates that parse. */
export function someTemplate({ text, around, everything }: TemplateShape): fc.Arbitrary<string> {
  const plain = fc.oneof(text, output);
  const tags = ({ body }: { body: fc.Arbitrary<string> }) => [
    fc
      .tuple(condition, body, body)
      .map(([test, a, b]) => `{% if ${test} %}${around(a)}{% else %}${around(b)}{% endif %}`),
    fc.tuple(condition, body).map(([test, a]) => `{% unless ${test} %}${around(a)}{% endunless %}`),
    fc
      .tuple(tagPath, literal, body, body)
      .map(
        ([one, value, a, b]) =>
          `{% case ${one} %}{% when ${value}, "Ada" %}${around(a)}{% else %}${around(b)}{% endcase %}`,
      ),
    fc
      .tuple(
        fc.constantFrom('items', 'profile', 'name', 'missing'),
        fc.constantFrom('', ' limit: 2', ' reversed', ' offset: 1'),
        body,
        body,
      )
      .map(
        ([list, setting, a, b]) => `{% for item in ${list}${setting} %}${around(a)}{% else %}${around(b)}{% endfor %}`,
      ),
    fc.tuple(tagPath, filters).map(([one, all]) => `{% assign made = ${one}${all} %}`),
    ...(everything
      ? [
          body.map((inside) => `{% capture made %}${inside}{% endcapture %}`),
          fc.constantFrom(
            '{% cycle "a", name %}',
            '{% increment n %}',
            '{% raw %}{{ name }}{% endraw %}',
            '{% comment %}{{ x {% endcomment %}',
          ),
        ]
      : []),
  ];
  const leaf = fc.array(plain, { maxLength: 4 }).map((parts) => parts.join(''));
  const block = fc.array(fc.oneof(plain, ...tags({ body: leaf })), { maxLength: 4 }).map((parts) => parts.join(''));
  return fc
    .array(fc.oneof(plain, ...tags({ body: block })), { minLength: 1, maxLength: 5 })
    .map((parts) => parts.join(''));
}
