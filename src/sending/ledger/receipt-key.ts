import { createHash } from 'node:crypto';

const longestKept = 300;

/** The key of a report as receipts keep it: an index takes short texts only, so that a longer one stands there by its hash. */
export function receiptKey(key: string): string {
  return key.length <= longestKept ? key : `sha256:${createHash('sha256').update(key).digest('base64url')}`;
}
