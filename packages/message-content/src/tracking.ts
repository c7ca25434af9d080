import type { MessageClass } from './message-class.ts';

/** A project's tracking mode. */
export type TrackingMode = 'ENABLED' | 'DISABLED' | 'MARKETING_ONLY';

/**
 * Whether opens and clicks of a message are counted (docs/contract/core.md#2-5, docs/contract/platform.md#9-5). The request's own
 * `tracking` goes before the project's mode; `MARKETING_ONLY` counts all but transactional mail.
 */
export function tracksEmail(facts: {
  override: boolean | null;
  mode: TrackingMode;
  messageClass: MessageClass;
}): boolean {
  if (facts.override !== null) return facts.override;
  return facts.mode === 'ENABLED' || (facts.mode === 'MARKETING_ONLY' && facts.messageClass !== 'TRANSACTIONAL');
}
