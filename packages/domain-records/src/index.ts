// What a service that sends for domains needs to know of their DNS records.
export { adviseDmarc, findDmarc } from './dmarc.ts';
export { checkRecord, type DnsFinding } from './findings.ts';
export { type DnsLookup, dnsLookup } from './lookup.ts';
