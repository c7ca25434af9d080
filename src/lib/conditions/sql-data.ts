import type { DataValue, ValueFilter } from './condition.ts';
import {
  anniversaries,
  cutoff,
  firstIsoText,
  isoDatePattern,
  isoTextBounds,
  lastOf,
  postgresInstant,
} from './dates.ts';
import type { Comparison } from './filters.ts';

/** The ordering operators as SQL, and jsonpath, write them. */
export const comparisonSql: Record<Comparison, string> = {
  greaterThan: '>',
  lessThan: '<',
  greaterThanOrEqual: '>=',
  lessThanOrEqual: '<=',
};

/** The types that conditions compare with. */
type ParameterType = 'text' | 'text[]' | 'uuid' | 'jsonb' | 'jsonpath' | 'timestamptz';

/** Collects the values of a condition and hands out their placeholders; an equal value of one type is sent once. */
export class Parameters {
  readonly values: string[] = [];
  readonly #placeholders = new Map<string, string>();

  /** The typed placeholder of a value. All values travel as text. */
  add(value: string, type: ParameterType): string {
    const key = `${type} ${value}`;
    let placeholder = this.#placeholders.get(key);
    if (placeholder === undefined) {
      placeholder = `$${this.values.push(value)}::${type}`;
      this.#placeholders.set(key, placeholder);
    }
    return placeholder;
  }

  /** The placeholder of an instant given in epoch milliseconds. */
  instant(milliseconds: number): string {
    return this.add(postgresInstant(milliseconds), 'timestamptz');
  }
}

/**
 * Compiles a test of a value of `base`, which gives the SQL of a JSON object where that is needed. One rule holds throughout: only `notExists`
 * matches a missing or null value.
 */
export function dataSql({ key, path, test }: ValueFilter, base: () => string, now: Date, params: Parameters): string {
  const stored = new StoredValue(base, key, path, params);
  const exists = () => `${stored.text} is not null`;
  switch (test.operator) {
    case 'exists':
      return exists();
    case 'notExists':
      return `${stored.text} is null`;
    case 'equals':
      return stored.equals(test.value);
    case 'notEquals':
      return `(${exists()} and not ${stored.equals(test.value)})`;
    case 'in':
      return stored.inSpan(test.from, test.until);
    case 'notIn':
      return `(${exists()} and not ${stored.inSpan(test.from, test.until)})`;
    case 'within':
      return stored.inSpan(cutoff(now, test.milliseconds), Number.POSITIVE_INFINITY);
    case 'olderThan':
      return stored.inSpan(Number.NEGATIVE_INFINITY, cutoff(now, test.milliseconds));
    case 'withinNext':
      return stored.inSpan(now.getTime(), lastOf(now, test.milliseconds) + 1);
    case 'anniversaryWithin':
      return stored.hasAnniversary(now, test.milliseconds);
    case 'contains':
      return `(jsonb_typeof(${stored.value}) = 'string' and ${stored.position(test.text)} > 0)`;
    case 'notContains':
      return `(${exists()} and (jsonb_typeof(${stored.value}) <> 'string' or ${stored.position(test.text)} = 0))`;
    default:
      return stored.compare(test.operator, test.value, test.instant);
  }
}

/** SQL about the value under a key. A parameter that no placeholder mentions is an error, so each is made where it is used. */
class StoredValue {
  readonly #given: () => string;
  readonly #key: string;
  readonly #path: string[];
  readonly #params: Parameters;

  constructor(base: () => string, key: string, path: string[], params: Parameters) {
    this.#given = base;
    this.#key = key;
    this.#path = path;
    this.#params = params;
  }

  get #base(): string {
    return this.#given();
  }

  get #isDotted(): boolean {
    return this.#path.length > 1;
  }

  /** The value under the key as it is written, with its dots. */
  get #literal(): string {
    return `${this.#base} -> ${this.#params.add(this.#key, 'text')}`;
  }

  get value(): string {
    if (!this.#isDotted) return `(${this.#literal})`;
    const literal = this.#literal;
    return `coalesce(${literal}, ${this.#base} -> ${this.#path.map((step) => this.#params.add(step, 'text')).join(' -> ')})`;
  }

  /** The value as text, in code point order whatever collation the database has. */
  get text(): string {
    const text = this.#isDotted ? `${this.value} #>> '{}'` : `${this.#base} ->> ${this.#params.add(this.#key, 'text')}`;
    return `(${text} collate "C")`;
  }

  position(part: string): string {
    return `strpos(${this.text}, ${this.#params.add(part, 'text')})`;
  }

  equals(wanted: DataValue): string {
    const contained = this.#wherever((place) => {
      const tree = place.reduceRight<DataValue>((inner, step) => ({ [step]: inner }), wanted);
      return `${this.#base} @> ${this.#params.add(JSON.stringify(tree), 'jsonb')}`;
    });
    // Containment is equality for scalars; an object or array may contain more than what is asked for.
    if (typeof wanted !== 'object') return contained;
    return `(${contained} and ${this.value} = ${this.#params.add(JSON.stringify(wanted), 'jsonb')})`;
  }

  /** Whether the value is a date at or after `from` and before `until`. */
  inSpan(from: number, until: number): string {
    return this.#near(from, until, [
      ...(from === Number.NEGATIVE_INFINITY ? [] : [`${this.#instant} >= ${this.#params.instant(from)}`]),
      ...(until === Number.POSITIVE_INFINITY ? [] : [`${this.#instant} < ${this.#params.instant(until)}`]),
    ]);
  }

  /** Whether the value is a date of an earlier day that has an anniversary from today until the end of the window. */
  hasAnniversary(now: Date, milliseconds: number): string {
    const { before } = anniversaries(now, milliseconds);
    return this.#near(Number.NEGATIVE_INFINITY, before, [
      anniversarySql(this.#instant, now, milliseconds, this.#params),
    ]);
  }

  /** Tests of the value's instant, made only where the value is a date whose text is not far from the span. */
  #near(from: number, until: number, tests: string[]): string {
    const { lowest, highest } = isoTextBounds(from, until);
    const near = [
      `${this.text} >= ${this.#params.add(lowest, 'text')}`,
      `${this.text} < ${this.#params.add(highest, 'text')}`,
      this.#isIso,
    ];
    return `case when ${near.join(' and ')} then ${tests.join(' and ') || 'true'} else false end`;
  }

  compare(operator: Comparison, wanted: DataValue, at: number | null): string {
    const sign = comparisonSql[operator];
    if (typeof wanted === 'number') {
      // Strict, because lax paths look into arrays.
      return this.#wherever((place) => {
        const accessors = place.map((step) => `.${JSON.stringify(step)}`).join('');
        const path = `strict $${accessors} ${sign} ${JSON.stringify(wanted)}`;
        return `${this.#base} @@ ${this.#params.add(path, 'jsonpath')}`;
      });
    }
    if (typeof wanted !== 'string') return 'false';
    const byText = `${this.text} ${sign} ${this.#params.add(wanted, 'text')}`;
    if (at === null) return `(jsonb_typeof(${this.value}) = 'string' and ${byText})`;
    const { lowest, highest } = isoTextBounds(at, at);
    const farOff = sign.startsWith('>')
      ? `${this.text} < ${this.#params.add(lowest, 'text')}`
      : `${this.text} >= ${this.#params.add(highest, 'text')}`;
    return [
      `case when ${farOff} then false`,
      `when ${this.#isIso} then ${this.#instant} ${sign} ${this.#params.instant(at)}`,
      `else jsonb_typeof(${this.value}) = 'string' and ${byText} end`,
    ].join(' ');
  }

  /** Repeats a test for the two places where the value under a dotted key may be. */
  #wherever(at: (path: string[]) => string): string {
    if (!this.#isDotted) return at([this.#key]);
    return `(${at([this.#key])} or (${this.#literal} is null and ${at(this.#path)}))`;
  }

  get #isIso(): string {
    const { text } = this;
    const known = (start: number, length: number, list: string) =>
      `substr(${text}, ${start}, ${length}) = any(${this.#params.add(list, 'text[]')})`;
    // Postgres sets a regular expression up anew for each row, which takes three times as long as these look-ups.
    const commonDate = `${text} like '____-__-__%' and ${known(1, 4, commonYears)} and ${known(6, 5, daysOfYear)}`;
    const commonTime = [
      `${text} like '__________T__:__:__.___Z'`,
      known(12, 2, twoDigits(24)),
      known(15, 2, twoDigits(60)),
      known(18, 2, twoDigits(60)),
      `ltrim(substr(${text}, 21, 3), '0123456789') = ''`,
    ].join(' and ');
    const [first, pattern] = [this.#params.add(firstIsoText, 'text'), this.#params.add(isoDatePattern, 'text')];
    const anyDate = `${text} >= ${first} and ${text} ~ ${pattern}`;
    return `((${commonDate} and (length(${text}) = 10 or ${commonTime})) or (${anyDate}))`;
  }

  /** Only for text that passed `#isIso`, and only in its `case`: the cast fails on anything else. */
  get #instant(): string {
    const { text } = this;
    // The 24th character is a digit whenever a fraction has more than three; Postgres would round what we cut.
    const cut = `case when substr(${text}, 24, 1) between '0' and '9' then regexp_replace(${text}, '([.][0-9]{3})[0-9]+', '\\1') else ${text} end`;
    const zone = `case when ${text} like any (array['%Z', '%+__:__', '%-__:__']) then '' else 'Z' end`;
    return `(${cut} || ${zone})::timestamptz`;
  }
}

/** Whether an instant, given as SQL, is of an earlier day that has an anniversary from today until the end of the window. */
export function anniversarySql(instant: string, now: Date, milliseconds: number, params: Parameters): string {
  const { days, before } = anniversaries(now, milliseconds);
  const day = `to_char(${instant} at time zone 'UTC', 'MMDD') = any(${params.add(arrayOf(days), 'text[]')})`;
  return `(${instant} < ${params.instant(before)} and ${day})`;
}

// Most dates lie in these years; the pattern matches those of other years, and 29 February.
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
