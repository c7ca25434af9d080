export { editDistance } from './edit-distance.ts';
export { dnsResolver, type RecordType, type Resolver } from './resolver.ts';
export { type Verification, verifyAddress } from './verify.ts';
