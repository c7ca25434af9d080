import { postgresInstant } from './dates.ts';
import type { Comparison } from './filters.ts';

/** The ordering operators as SQL, and jsonpath, write them. */
export const comparisonSql: Record<Comparison, string> = {
  greaterThan: '>',
  lessThan: '<',
  greaterThanOrEqual: '>=',
  lessThanOrEqual: '<=',
};

/** The types that conditions compare with. */
export type ParameterType = 'text' | 'text[]' | 'uuid' | 'jsonb' | 'jsonpath' | 'timestamptz';

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
