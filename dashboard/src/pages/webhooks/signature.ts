/** A call as its receiver got it. */
export interface ReceivedCall {
  secret: string;
  id: string;
  timestamp: string;
  signature: string;
  body: string;
}

/**
 * Whether one of the signatures of a call fits (Standard Webhooks 1.0), in words; null when it does. Everything happens in this browser.
 */
export async function signatureProblem({
  secret,
  id,
  timestamp,
  signature,
  body,
}: ReceivedCall): Promise<string | null> {
  if (!window.isSecureContext) return 'Browsers check signatures on HTTPS pages only. Open the dashboard over HTTPS.';
  const bytes = fromBase64(secret.trim().replace(/^whsec_/, ''));
  if (bytes === null) return 'The secret is not complete. It begins with whsec_.';
  const key = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
  const signed = new TextEncoder().encode(`${id.trim()}.${timestamp.trim()}.${body}`);
  for (const each of signature.trim().split(/\s+/)) {
    const [version, text = ''] = each.split(',');
    const mac = version === 'v1' ? fromBase64(text) : null;
    if (mac !== null && (await crypto.subtle.verify('HMAC', key, mac, signed))) return null;
  }
  return 'No signature matches. Check that the secret belongs to this endpoint and that the body is exactly as received, not parsed and serialized again.';
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    return bytes.length === 0 ? null : bytes;
  } catch {
    return null;
  }
}
