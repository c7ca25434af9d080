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
