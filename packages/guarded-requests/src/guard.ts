import { lookup, Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { refusedRange } from './addresses.ts';
import { isRefusedPort } from './ports.ts';

/** A request was refused because of where it would have gone. The text names no address: it may be one of the inner network. */
export class AddressRefused extends Error {
  override name = 'AddressRefused';
}

/** Who may be called, and how names are found. */
export interface GuardSettings {
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
