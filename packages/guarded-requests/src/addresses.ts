import ipaddr from 'ipaddr.js';

// Whatever is not plainly a public unicast address is refused, so that a range nobody thought of is refused too. The
// registries behind the library's names: IANA special-purpose addresses for IPv4 and IPv6 (RFC 6890 and its updates).
const openRange = 'unicast';

// Azure answers every virtual machine there, with its configuration, though the address is one of the public range.
const azure = '168.63.129.16';

/**
 * Why a request must not go to an address, as the name of its range (`private`, `loopback`, `linkLocal` …); null when it
 * may. IPv6 addresses that carry an IPv4 address (mapped, compatible, NAT64, 6to4, Teredo, ISATAP) are judged by that too.
 */
export function refusedRange(address: string): string | null {
  const bare = address.replace(/^\[|\]$/g, '').replace(/%.*$/, '');
  if (!ipaddr.isValid(bare)) return 'unreadable';
  const parsed = ipaddr.parse(bare);
  if (parsed.kind() === 'ipv4') return rangeOf(parsed);
  return rangeOfIpv6(parsed as ipaddr.IPv6);
}

function rangeOfIpv6(address: ipaddr.IPv6): string | null {
  if (address.isIPv4MappedAddress()) return rangeOf(address.toIPv4Address());
  const bytes = address.toByteArray();
  const [first = 0, second = 0] = address.parts;
  // IPv4-compatible (RFC 4291, 2.5.5.1), and `::` and `::1` among them.
  if (bytes.slice(0, 12).every((byte) => byte === 0))
    return rangeOf(address) ?? rangeOf(ipv4(bytes, 12)) ?? 'ipv4Compatible';
  // NAT64 (RFC 6052): a gateway of the network delivers these to the address inside.
  if (first === 0x64 && second === 0xff9b && bytes.slice(4, 12).every((byte) => byte === 0))
    return rangeOf(ipv4(bytes, 12));
  // 6to4 (RFC 3056) holds it behind the prefix; Teredo, ISATAP and the rest are refused as ranges.
  if (first === 0x2002) return rangeOf(ipv4(bytes, 2));
  // ISATAP (RFC 5214, 6.1) holds it in the interface identifier, below any prefix.
  if ((bytes[8] === 0 || bytes[8] === 2) && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe)
    return rangeOf(ipv4(bytes, 12)) ?? rangeOf(address);
  // Only 2000::/3 is handed out to anybody.
  return rangeOf(address) ?? (first >> 13 === 1 ? null : 'unassigned');
}

function rangeOf(address: ipaddr.IPv4 | ipaddr.IPv6): string | null {
  if (address.toString() === azure) return 'platform';
  const range = address.range();
  return range === openRange ? null : range;
}

function ipv4(bytes: readonly number[], from: number): ipaddr.IPv4 {
  return new ipaddr.IPv4(bytes.slice(from, from + 4));
}
