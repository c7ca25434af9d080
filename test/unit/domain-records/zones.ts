import { type DnsAnswer, type DnsLookup, plainName } from '../../../src/domains/records/findings.ts';

/** What one name answers. */
export interface Zone {
  TXT?: string[];
  CNAME?: string;
  MX?: { priority: number; exchange: string }[];
  /** Its name servers fail, for every question. */
  fails?: true;
}

/** A DNS that knows these names and no other. */
export function dnsOf(zones: Readonly<Record<string, Zone>>): DnsLookup {
  const answer = <T>(name: string, values: (zone: Zone) => readonly T[]): Promise<DnsAnswer<T>> => {
    const zone = zones[name];
    if (zone?.fails) return Promise.resolve({ kind: 'unanswered', reason: 'ESERVFAIL' });
    const found = zone === undefined ? [] : [...values(zone)];
    return Promise.resolve(found.length === 0 ? { kind: 'absent' } : { kind: 'found', values: found });
  };
  return {
    txt: (name) => answer(name, ({ TXT = [] }) => TXT),
    cname: (name) => answer(name, ({ CNAME }) => (CNAME === undefined ? [] : [plainName(CNAME)])),
    mx: (name) => answer(name, ({ MX = [] }) => MX),
  };
}
