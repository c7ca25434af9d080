const whole = new Intl.NumberFormat();
const percent = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });

/** A count with the viewer's separators. */
export function count(value: number): string {
  return whole.format(value);
}

/** A rate that the API gives in percent: `39.5` becomes `39.5 %`. */
export function rate(value: number): string {
  return `${percent.format(value)} %`;
}

/** An amount in the smallest unit of its currency, as payment processors tell it: 1250 eur becomes 12.50 €. */
export function money(amount: number, currency: string): string {
  const format = new Intl.NumberFormat(undefined, { style: 'currency', currency });
  return format.format(amount / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2));
}

/** A size in bytes as people read it: 48213 becomes 48 kB. */
export function bytes(size: number): string {
  const [unit, amount] =
    size < 1_000 ? ['byte', size] : size < 1e6 ? ['kilobyte', size / 1e3] : ['megabyte', size / 1e6];
  const digits = amount < 10 ? 1 : 0;
  return new Intl.NumberFormat(undefined, { style: 'unit', unit, maximumFractionDigits: digits }).format(amount);
}
