const conditional = /\{%-?\s*(if|unless|case|for)\b.*?\{%-?\s*end\1\s*-?%\}/gs;
const tag = /\{%.*?%\}/gs;
const output = /\{\{\{?-?(.*?)-?\}?\}\}/gs;

/**
 * A subject as lists and confirmations show it, where it may be that of many: a variable is its name in brackets, `Hi [first name]`,
 * since each recipient reads their own value, and text that only some get is an ellipsis.
 */
export function subjectText(subject: string): string {
  return subject
    .replace(conditional, '…')
    .replace(tag, '')
    .replace(output, (_, expression: string) => outputText(expression))
    .replace(/\s+/g, ' ')
    .trim();
}

// `data.plan | upcase` is about the plan, and a text in quotes says itself.
function outputText(expression: string): string {
  const [value = ''] = expression.split(/\?\?|\|/).map((part) => part.trim());
  const [, , text] = /^(["'])(.*)\1$/s.exec(value) ?? [];
  if (text !== undefined) return text;
  const name = value.match(/[^."'[\]]+/g)?.at(-1) ?? '';
  return `[${name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replaceAll(/[_-]+/g, ' ')
    .toLowerCase()}]`;
}
