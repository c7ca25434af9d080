/** Below this much mail no rate is judged. */
export const enoughMail = 100;

/** How far bounces or complaints have come toward the limits. */
export type Level = 'healthy' | 'warning' | 'critical';

/**
 * How mail of a project is received: its worst limit, and the limits that were reached as sentences. The level of each rate is no
 * second opinion here, since it ignores the numbers that the limits need. Null while there is too little mail to judge.
 */
export function healthOf({
  violations,
  warnings,
  sevenDay,
}: {
  violations: readonly string[];
  warnings: readonly string[];
  sevenDay: { total: number };
}): { level: Level | null; sentences: string[] } {
  const sentences = [...violations, ...warnings];
  if (violations.length > 0) return { level: 'critical', sentences };
  if (warnings.length > 0) return { level: 'warning', sentences };
  return { level: sevenDay.total < enoughMail ? null : 'healthy', sentences };
}
