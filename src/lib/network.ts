import ipaddr from 'ipaddr.js';

/**
 * The network a caller counts as where attempts are limited: an IPv4 address, or the /64 of an IPv6 one, which is what one
 * customer is given. A port behind the address, as some proxies write it, and a zone do not count.
 */
export function networkOf(address: string): string {
  const bare = withoutPort(address.trim()).replace(/%.*$/, '');
  if (!ipaddr.isValid(bare)) return bare;
  const parsed = ipaddr.process(bare);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  const prefix = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `${prefix.join(':')}::/64`;
}

// `203.0.113.7:4711`, `[2001:db8::1]:4711` and `[2001:db8::1]`.
function withoutPort(address: string): string {
  return /^\[([^\]]*)\](?::\d+)?$/.exec(address)?.[1] ?? /^(\d+(?:\.\d+){3}):\d+$/.exec(address)?.[1] ?? address;
}

/** The status codes of gRPC that decide what happens next (grpc/doc/statuscodes.md). */
export const grpcStatus = {
  CANCELLED: 1,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  UNIMPLEMENTED: 12,
  UNAVAILABLE: 14,
  UNAUTHENTICATED: 16,
} as const;

/** The gRPC status code of an error or of one of its causes; null when it came from elsewhere. */
export function grpcCode(error: unknown): number | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const code = (cause as { code?: unknown }).code;
    if (typeof code === 'number') return code;
  }
  return null;
}

/** Whether the error says that no answer came at all, which waiting may cure. */
export function isTemporalUnreachable(error: unknown): boolean {
  const code = grpcCode(error);
  return code === grpcStatus.UNAVAILABLE || code === grpcStatus.DEADLINE_EXCEEDED || code === grpcStatus.CANCELLED;
}

/**
 * Whether the error says that the server lacks what `npm run migrate` makes: the namespace or its search attributes. A server
 * refuses each start that names an attribute it does not know.
 */
export function isTemporalUnprepared(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause.name === 'NamespaceNotFoundError') return true;
  return grpcCode(error) === grpcStatus.INVALID_ARGUMENT && /search attribute/i.test(grpcDetails(error));
}

/** The most precise text of an error from the client: what the server, or the network, said. */
export function grpcDetails(error: unknown): string {
  let text = String(error);
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const details = (cause as { details?: unknown }).details;
    text = typeof details === 'string' && details !== '' ? details : cause.message;
  }
  return text;
}

/** One line about why Temporal could not be used. */
export function describeFailure(error: unknown, place: { address: string; namespace: string }): string {
  const code = grpcCode(error);
  if (code === grpcStatus.NOT_FOUND) return `namespace "${place.namespace}" does not exist`;
  if (code === grpcStatus.DEADLINE_EXCEEDED) return `no answer from ${place.address}`;
  if (code === grpcStatus.UNAVAILABLE) return `cannot reach ${place.address}`;
  if (code === grpcStatus.UNAUTHENTICATED || code === grpcStatus.PERMISSION_DENIED)
    return `${place.address} refuses the credentials: ${grpcDetails(error)}`;
  return grpcDetails(error);
}
