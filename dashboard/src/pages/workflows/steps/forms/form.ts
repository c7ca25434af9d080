import type { DraftStep } from '../../graph/draft.ts';

export interface Form {
  draft: DraftStep;
  /** The problem that the service found with a field of the config. */
  problemOf: (field: string) => string | undefined;
  onChange: (change: Partial<DraftStep>) => void;
}

/** A value of a config as a field shows it. */
export const text = (value: unknown) => (value === undefined || value === null ? '' : String(value));

/** Changes a step's config; `undefined` removes a key. */
export function set({ draft, onChange }: Form, change: Record<string, unknown>): void {
  const config = { ...draft.config, ...change };
  for (const [key, value] of Object.entries(config)) if (value === undefined) delete config[key];
  onChange({ config });
}
