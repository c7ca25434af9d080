/** The language of the dashboard: its texts are American English, so its numbers and dates are too. */
export const locale = 'en-US';

/** A formatter that is made when it is first used, and once: making one takes longer than a hundred uses, and most pages need few. */
export function lazily<Format>(make: () => Format): () => Format {
  let made: Format | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

const whole = lazily(() => new Intl.NumberFormat(locale));
const percent = lazily(() => new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 }));

/** A count with separators: `1,924`. */
export function count(value: number): string {
  // Most counts are small, and look like that already.
  return Number.isInteger(value) && Math.abs(value) < 1_000 ? String(value) : whole().format(value);
}

/** A count with its noun: `1 contact`, `1,924 contacts`. `other` is the plural where it is not the noun with an s. */
export function counted(value: number, one: string, other = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : other}`;
}

/** A rate that the API gives in percent: `39.5` becomes `39.5%`. */
export function rate(value: number): string {
  return percent().format(value / 100);
}

/** An amount in the smallest unit of its currency, as payment processors tell it: 1250 eur becomes €12.50. */
export function money(amount: number, currency: string): string {
  const format = new Intl.NumberFormat(locale, { style: 'currency', currency });
  return format.format(amount / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2));
}

/** A size in bytes as people read it: 48213 becomes 48 kB. */
export function bytes(size: number): string {
  const [unit, amount] =
    size < 1_000 ? ['byte', size] : size < 1e6 ? ['kilobyte', size / 1e3] : ['megabyte', size / 1e6];
  const digits = amount < 10 ? 1 : 0;
  // The short form of bytes has no plural.
  const unitDisplay = unit === 'byte' ? 'long' : 'short';
  return new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay, maximumFractionDigits: digits }).format(
    amount,
  );
}

/** A change between two counts in percent of the earlier one: `+12%`, `−5%`. */
export function changeOf(now: number, before: number): string {
  if (before === 0) return now === 0 ? 'No change' : 'None before';
  const change = Math.round(((now - before) / before) * 100);
  if (change === 0) return 'No change';
  return `${change > 0 ? '+' : '−'}${count(Math.abs(change))}%`;
}
