// System and undici codes of a connection that was never there: no name, no route, nobody listening, no TLS.
const unwrittenCodes =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EAI_FAIL|EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|ENETDOWN|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT|ERR_TLS_.*|ERR_SSL_.*|CERT_.*|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_.*|EPROTO)$/;

/** Whether a network error proves that no byte of the request reached the server. */
export function failedBeforeWriting(error: unknown): boolean {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    const { code, syscall } = at as NodeJS.ErrnoException;
    if (code !== undefined && (unwrittenCodes.test(code) || syscall === 'connect')) return true;
  }
  return false;
}
