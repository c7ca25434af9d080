/** A step that is called by its id. */
export const step = (id: string, type: string, config: Record<string, unknown> = {}) => ({
  id,
  type,
  name: id,
  config,
});

/** A path without a condition, unless `more` gives it one. */
export const path = (
  fromStepId: string,
  toStepId: string,
  more: { branch?: string | null; waitOutcome?: 'EVENT' | 'TIMEOUT' | null } = {},
) => ({ fromStepId, toStepId, branch: null, waitOutcome: null, ...more });
