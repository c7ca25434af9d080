import type { JsonValue } from '../../core/lib/json.ts';
import { cutoff, firstIsoText, isoDatePattern, isoTextBounds } from './dates.ts';
import type { Comparison } from './filters.ts';
import type { DataFilter } from './schema.ts';
import { comparisonSql, type Parameters } from './sql-parameters.ts';

/** Compiles a filter on `data.<key>`. The first rule holds throughout: only `notExists` matches a missing or null value. */
export function dataSql({ key, path, test }: DataFilter, now: Date, params: Parameters): string {
  const dotted = path.length > 1;
  // Made where they are used: a parameter that no placeholder mentions is an error.
  const literal = () => `c.data -> ${params.add(key, 'text')}`;
  const value = () => (dotted ? `coalesce(${literal()}, ${steps(path)})` : `(${literal()})`);
  // Code point order and plain comparison, whatever collation the database has.
  const text = () => `(${dotted ? `${value()} #>> '{}'` : `c.data ->> ${params.add(key, 'text')}`} collate "C")`;

  switch (test.operator) {
    case 'exists':
      return `${text()} is not null`;
    case 'notExists':
      return `${text()} is null`;
    case 'equals':
      return equals(test.value);
    case 'notEquals':
      return `(${text()} is not null and not ${equals(test.value)})`;
    case 'in':
      return inSpan(test.from, test.until);
    case 'notIn':
      return `(${text()} is not null and not ${inSpan(test.from, test.until)})`;
    case 'within':
      return inSpan(cutoff(now, test.milliseconds), Number.POSITIVE_INFINITY);
    case 'olderThan':
      return inSpan(Number.NEGATIVE_INFINITY, cutoff(now, test.milliseconds));
    case 'contains':
      return `(jsonb_typeof(${value()}) = 'string' and ${position(test.text)} > 0)`;
    case 'notContains':
      return `(${text()} is not null and (jsonb_typeof(${value()}) <> 'string' or ${position(test.text)} = 0))`;
    default:
      return compare(test.operator, test.value, test.instant);
  }

  function steps(of: string[]): string {
    return `c.data -> ${of.map((step) => params.add(step, 'text')).join(' -> ')}`;
  }

  /** Repeats a test for the two places where a dotted key may live. */
  function wherever(at: (path: string[]) => string): string {
    if (!dotted) return at([key]);
    return `(${at([key])} or (${literal()} is null and ${at(path)}))`;
  }

  function equals(wanted: JsonValue): string {
    const contained = wherever((place) => {
      const tree = place.reduceRight<JsonValue>((inner, step) => ({ [step]: inner }), wanted);
      return `c.data @> ${params.add(JSON.stringify(tree), 'jsonb')}`;
    });
    // Containment is equality for scalars; an object or array may contain more than what is asked for.
    if (typeof wanted !== 'object') return contained;
    return `(${contained} and ${value()} = ${params.add(JSON.stringify(wanted), 'jsonb')})`;
  }

  function position(part: string): string {
    return `strpos(${text()}, ${params.add(part, 'text')})`;
  }

  function inSpan(from: number, until: number): string {
    const { lowest, highest } = bounds(from, until);
    const tests = [
      ...(from === Number.NEGATIVE_INFINITY ? [] : [`${instant()} >= ${params.instant(from)}`]),
      ...(until === Number.POSITIVE_INFINITY ? [] : [`${instant()} < ${params.instant(until)}`]),
    ];
    const near = `${text()} >= ${lowest()} and ${text()} < ${highest()} and ${isIso()}`;
    return `case when ${near} then ${tests.join(' and ') || 'true'} else false end`;
  }

  function compare(operator: Comparison, wanted: JsonValue, at: number | null): string {
    const sign = comparisonSql[operator];
    if (typeof wanted === 'number') {
      // Strict, because lax paths look into arrays.
      return wherever((place) => {
        const accessors = place.map((step) => `.${JSON.stringify(step)}`).join('');
        return `c.data @@ ${params.add(`strict $${accessors} ${sign} ${JSON.stringify(wanted)}`, 'jsonpath')}`;
      });
    }
    if (typeof wanted !== 'string') return 'false';
    const byText = `${text()} ${sign} ${params.add(wanted, 'text')}`;
    if (at === null) return `(jsonb_typeof(${value()}) = 'string' and ${byText})`;
    const { lowest, highest } = bounds(at, at);
    const farOff = sign.startsWith('>') ? `${text()} < ${lowest()}` : `${text()} >= ${highest()}`;
    return [
      `case when ${farOff} then false`,
      `when ${isIso()} then ${instant()} ${sign} ${params.instant(at)}`,
      `else jsonb_typeof(${value()}) = 'string' and ${byText} end`,
    ].join(' ');
  }

  function bounds(from: number, until: number): { lowest: () => string; highest: () => string } {
    const { lowest, highest } = isoTextBounds(from, until);
    return { lowest: () => params.add(lowest, 'text'), highest: () => params.add(highest, 'text') };
  }

  function isIso(): string {
    const known = (start: number, length: number, list: string) =>
      `substr(${text()}, ${start}, ${length}) = any(${params.add(list, 'text[]')})`;
    // Postgres sets a regular expression up anew for each row, which takes three times as long as these look-ups.
    const commonDate = `${text()} like '____-__-__%' and ${known(1, 4, commonYears)} and ${known(6, 5, daysOfYear)}`;
    const commonTime = [
      `${text()} like '__________T__:__:__.___Z'`,
      known(12, 2, twoDigits(24)),
      known(15, 2, twoDigits(60)),
      known(18, 2, twoDigits(60)),
      `ltrim(substr(${text()}, 21, 3), '0123456789') = ''`,
    ].join(' and ');
    const pattern = `${text()} >= ${params.add(firstIsoText, 'text')} and ${text()} ~ ${params.add(isoDatePattern, 'text')}`;
    return `((${commonDate} and (length(${text()}) = 10 or ${commonTime})) or (${pattern}))`;
  }

  /** Only for text that passed `isIso`, and only in its `case`: the cast fails on anything else. */
  function instant(): string {
    // The 24th character is a digit whenever a fraction has more than three; Postgres would round what we cut.
    const cut = `case when substr(${text()}, 24, 1) between '0' and '9' then regexp_replace(${text()}, '([.][0-9]{3})[0-9]+', '\\1') else ${text()} end`;
    const zone = `case when ${text()} like any (array['%Z', '%+__:__', '%-__:__']) then '' else 'Z' end`;
    return `(${cut} || ${zone})::timestamptz`;
  }
}

// Years in which most dates of people's lives and doings lie; the others are left to the pattern, and so is 29 February.
const commonYears = arrayOf(Array.from({ length: 200 }, (_, index) => `${1900 + index}`));
const daysOfYear = arrayOf(
  Array.from({ length: 365 }, (_, index) => new Date(Date.UTC(2023, 0, 1 + index)).toISOString().slice(5, 10)),
);

function twoDigits(count: number): string {
  return arrayOf(Array.from({ length: count }, (_, index) => String(index).padStart(2, '0')));
}

function arrayOf(items: string[]): string {
  return `{${items.join()}}`;
}
