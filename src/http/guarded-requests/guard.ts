import { lookup, Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { buildConnector } from 'undici';

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

// The ports that browsers refuse (Fetch standard, "bad port"), and those of databases, queues and remote desktops: none of them is
// spoken to by HTTP, and a request may be read as their commands.
const refused = new Set(
  [
    '0 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 123 135 137 139 143 161',
    '179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990 993 995 1719 1720 1723 2049 3659 4045 4190',
    '5060 5061 6000 6566 6665 6666 6667 6668 6669 6679 6697 10080',
    '445 873 1433 1521 1883 2375 2376 2379 2380 2525 3306 3389 4369 5432 5672 5900 6379 6380 6432 8883 9042 9092 9300 11211 26257 27017 27018',
  ].flatMap((line) => line.split(' ').map(Number)),
);

/** Whether a port belongs to a service that does not speak HTTP, so that no request may go to it. */
export function isRefusedPort(port: number): boolean {
  return refused.has(port);
}

/** A request was refused because of where it would have gone. The text names no address: it may be one of the inner network. */
export class AddressRefused extends Error {
  override name = 'AddressRefused';
}

/** Who may be called, and how names are found. */
interface GuardSettings {
  /** Setting WEBHOOK_ALLOWED_HOSTS: `host` or `host:port`, exempt from the rules of addresses. */
  allowedHosts: readonly string[];
  /** Setting DNS_SERVERS; the machine's own resolution when empty. */
  dnsServers?: readonly string[];
  /** Certificate authorities to trust in place of Node's own. */
  ca?: string;
}

interface Address {
  address: string;
  family: number;
}

/**
 * Builds the function that opens connections to addresses that users choose. A name is resolved once; the connection is refused if its
 * port is not for HTTP or any of its addresses is not public, and made to the very addresses that were checked, so that a second answer of the name
 * server changes nothing.
 */
export function guardedConnector(settings: GuardSettings, timeoutMs: number): buildConnector.connector {
  const { allowedHosts, dnsServers = [], ca } = settings;
  const allowed = new Set(allowedHosts.map((host) => host.toLowerCase()));
  const resolve =
    dnsServers.length > 0 ? resolveBy(dnsServers) : (name: string): Promise<Address[]> => lookup(name, { all: true });
  const shared = { allowH2: false, timeout: timeoutMs, maxCachedSessions: 0, ...(ca === undefined ? {} : { ca }) };
  const guarded = buildConnector({ ...shared, lookup: lookUp(true) });
  const exempt = buildConnector({ ...shared, lookup: lookUp(false) });

  return (options, callback) => {
    const host = bareHost(options.hostname);
    if (isAllowed(host, options.port, options.protocol)) return exempt(options, callback);
    if (isRefusedPort(Number(portOf(options.port, options.protocol))))
      return callback(
        new AddressRefused(`Requests to port ${options.port} of ${host} are refused: it does not speak HTTP`),
        null,
      );
    // An address in place of a name is connected to without any look-up.
    const refusal = isIP(host) === 0 ? null : refusalOf(host, [host]);
    if (refusal !== null) return callback(refusal, null);
    guarded(options, callback);
  };

  function isAllowed(host: string, port: string, protocol: string): boolean {
    return allowed.has(host) || allowed.has(`${host}:${portOf(port, protocol)}`);
  }

  function lookUp(isGuarded: boolean): LookupFunction {
    return (hostname, options, callback) => {
      resolve(hostname).then(
        (addresses) => {
          const [first] = addresses;
          const refusal = isGuarded
            ? refusalOf(
                hostname,
                addresses.map(({ address }) => address),
              )
            : null;
          if (refusal !== null) callback(refusal, []);
          else if (first === undefined) callback(notFound(hostname), []);
          else if (options.all === true) callback(null, addresses);
          else callback(null, first.address, first.family);
        },
        (error: NodeJS.ErrnoException) => callback(error, []),
      );
    };
  }
}

function portOf(port: string, protocol: string): string {
  return port || (protocol === 'https:' ? '443' : '80');
}

function refusalOf(host: string, addresses: readonly string[]): AddressRefused | null {
  const range = addresses.map(refusedRange).find((found) => found !== null);
  if (range === undefined) return null;
  return new AddressRefused(`Requests to ${host} are refused: it has an address that is not public (${range})`);
}

function resolveBy(servers: readonly string[]): (hostname: string) => Promise<Address[]> {
  const dns = new Resolver({ timeout: 2000, tries: 2 });
  dns.setServers([...servers]);
  return async (hostname) => {
    const [v4, v6] = await Promise.allSettled([dns.resolve4(hostname), dns.resolve6(hostname)]);
    const addresses = [
      ...(v4.status === 'fulfilled' ? v4.value.map((address) => ({ address, family: 4 })) : []),
      ...(v6.status === 'fulfilled' ? v6.value.map((address) => ({ address, family: 6 })) : []),
    ];
    if (addresses.length === 0 && v4.status === 'rejected') throw v4.reason;
    return addresses;
  };
}

function notFound(hostname: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`getaddrinfo ENOTFOUND ${hostname}`), { code: 'ENOTFOUND' });
}

function bareHost(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '').toLowerCase();
}
