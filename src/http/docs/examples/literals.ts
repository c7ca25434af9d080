/** Code that stands in a literal as it is, such as the name of a variable. */
export class Expression {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** How a language writes values. */
export interface Style {
  indent: string;
  /** Writes the fields of an object on one line, between its braces. */
  braces: (inner: string) => string;
  field: (name: string, value: string) => string;
  scalar: (value: unknown) => string;
}

const width = 90;

export const typeScript: Style = {
  indent: '  ',
  braces: (inner) => (inner === '' ? '{}' : `{ ${inner} }`),
  field: (name, value) => {
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : inQuotes(name);
    return key === value ? key : `${key}: ${value}`;
  },
  scalar: (value) => (typeof value === 'string' ? inQuotes(value) : JSON.stringify(value)),
};

export const python: Style = {
  indent: '    ',
  braces: (inner) => `{${inner}}`,
  field: (name, value) => `${JSON.stringify(name)}: ${value}`,
  scalar: (value) => {
    if (value === null) return 'None';
    return typeof value === 'boolean' ? (value ? 'True' : 'False') : JSON.stringify(value);
  },
};

/** A value in a language, on one line where there is room for it after so many characters. */
export function literal(value: unknown, style: Style, used: number, indent = ''): string {
  const inline = onOneLine(value, style);
  if (!isNested(value) || used + inline.length <= width) return inline;
  const inner = `${indent}${style.indent}`;
  const items = Array.isArray(value)
    ? value.map((item) => literal(item, style, inner.length + 1, inner))
    : Object.entries(value).map(([name, item]) =>
        style.field(name, literal(item, style, inner.length + name.length + 5, inner)),
      );
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return `${open}\n${items.map((item) => `${inner}${item},\n`).join('')}${indent}${close}`;
}

function onOneLine(value: unknown, style: Style): string {
  if (value instanceof Expression) return value.text;
  if (Array.isArray(value)) return `[${value.map((item) => onOneLine(item, style)).join(', ')}]`;
  if (!isNested(value)) return style.scalar(value);
  return style.braces(
    Object.entries(value)
      .map(([name, item]) => style.field(name, onOneLine(item, style)))
      .join(', '),
  );
}

function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !(value instanceof Expression);
}

function inQuotes(text: string): string {
  const inner = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"');
  return `'${inner.replaceAll("'", "\\'")}'`;
}
