import type { ScopedKey } from '../../core/http/context.ts';
import { AppError } from '../../core/lib/errors.ts';

/**
 * Checks that a key of a language model may do this by itself: what its setting `mcp` wants planned, or approved by a member, it may not
 * do by another way than `/mcp` either. `reached` is how many contacts it reaches; Infinity where that is not known.
 * @throws 403 PLAN_NEEDED
 */
export function checkUnplanned(key: ScopedKey | null, reached: number): void {
  if (!key?.mcp || key.mcp.mode === 'read') return;
  const { mode, needsHuman, mostRecipients } = key.mcp;
  if (mode === 'act' && needsHuman !== 'always' && reached <= mostRecipients) return;
  const why =
    mode === 'plan'
      ? 'only makes plans'
      : needsHuman === 'always'
        ? 'needs the approval of a member'
        : `reaches at most ${mostRecipients} contacts at once`;
  throw new AppError(403, 'PLAN_NEEDED', `This key is for AI assistants and ${why}`, {
    details: { mode, needsHuman, mostRecipients },
    suggestion:
      'Make a plan at POST /mcp and let a member approve it, sign in, or use a key without the setting "mcp".',
  });
}
