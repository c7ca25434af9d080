/** Markup that may stand in a page as it is. */
export interface Html {
  readonly markup: string;
}

type Value = Html | readonly Html[] | string | number | null | undefined | false;

/** Builds markup; every value that is not itself markup is escaped, so that nothing in a mail can become markup. */
export function html(strings: TemplateStringsArray, ...values: Value[]): Html {
  let markup = strings[0] ?? '';
  values.forEach((value, i) => {
    markup += markupOf(value) + (strings[i + 1] ?? '');
  });
  return { markup };
}

/** The text with everything escaped that means something in element content or in a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"'`]/g, (char) => `&#${char.charCodeAt(0)};`);
}

/** Addresses that break after their @ before they break anywhere else. */
export function breakable(addresses: string): Html {
  return { markup: escapeHtml(addresses).replaceAll('@', '@<wbr>') };
}

function markupOf(value: Value): string {
  if (value === null || value === undefined || value === false) return '';
  if (typeof value === 'string') return escapeHtml(value);
  if (typeof value === 'number') return String(value);
  return 'markup' in value ? value.markup : value.map((one) => one.markup).join('');
}
