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
