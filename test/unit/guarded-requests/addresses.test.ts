import { describe, expect, test } from 'vitest';
import { refusedRange } from '../../../src/http/guarded-requests/guard.ts';

describe('addresses that no request may reach', () => {
  test.each([
    ['loopback', '127.0.0.1'],
    ['loopback', '127.255.255.254'],
    ['loopback, IPv6', '::1'],
    ['private', '10.0.0.1'],
    ['private', '172.16.0.1'],
    ['private', '172.31.255.255'],
    ['private', '192.168.1.1'],
    ['link-local', '169.254.0.1'],
    ['metadata of clouds', '169.254.169.254'],
    ['platform of Azure', '168.63.129.16'],
    ['platform of Azure, mapped', '::ffff:168.63.129.16'],
    ['NAT64 of the platform of Azure', '64:ff9b::168.63.129.16'],
    ['metadata, IPv6', 'fd00:ec2::254'],
    ['carrier NAT', '100.64.0.1'],
    ['carrier NAT', '100.127.255.255'],
    ['this network', '0.0.0.0'],
    ['this network', '0.1.2.3'],
    ['multicast', '224.0.0.1'],
    ['reserved', '240.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['documentation', '192.0.2.1'],
    ['documentation', '198.51.100.7'],
    ['documentation', '203.0.113.9'],
    ['benchmarking', '198.18.0.1'],
    ['protocol assignments', '192.0.0.8'],
    ['unspecified, IPv6', '::'],
    ['unique local', 'fc00::1'],
    ['unique local', 'fdff:ffff::1'],
    ['link-local, IPv6', 'fe80::1'],
    ['link-local with a zone', 'fe80::1%eth0'],
    ['site-local', 'fec0::1'],
    ['multicast, IPv6', 'ff02::1'],
    ['documentation, IPv6', '2001:db8::1'],
    ['documentation, IPv6', '3fff::1'],
    ['discard', '100::1'],
    ['Teredo', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
    ['Teredo with a public server and client', '2001:0:808:808::'],
    ['mapped loopback', '::ffff:127.0.0.1'],
    ['mapped private, in hexadecimal', '::ffff:a00:1'],
    ['mapped metadata', '::ffff:169.254.169.254'],
    ['compatible loopback', '::127.0.0.1'],
    ['compatible private', '::10.0.0.1'],
    ['NAT64 of a private address', '64:ff9b::10.0.0.1'],
    ['NAT64 of loopback', '64:ff9b::7f00:1'],
    ['NAT64 of metadata', '64:ff9b::a9fe:a9fe'],
    ['NAT64 of a network of its own', '64:ff9b:1::a00:1'],
    ['translated', '::ffff:0:10.0.0.1'],
    ['6to4 of a private address', '2002:a00:1::1'],
    ['6to4 of loopback', '2002:7f00:1::'],
    ['ISATAP of a private address', '2a00:1450:4001:80e:0:5efe:c0a8:101'],
    ['never handed out', '4000::1'],
    ['segment routing', '5f00::1'],
    ['no address at all', 'metadata'],
    ['an empty text', ''],
  ])('%s: %s', (_, address) => {
    expect(refusedRange(address)).not.toBeNull();
    expect(refusedRange(`[${address}]`)).not.toBeNull();
  });

  test.each([
    '8.8.8.8',
    '1.1.1.1',
    '93.184.215.14',
    '100.63.255.255',
    '100.128.0.1',
    '172.15.0.1',
    '172.32.0.1',
    '168.63.129.17',
  ])('a public address is none of them: %s', (address) => {
    expect(refusedRange(address)).toBeNull();
    expect(refusedRange(`::ffff:${address}`)).toBeNull();
    expect(refusedRange(`64:ff9b::${address}`)).toBeNull();
  });

  test.each(['2606:4700:4700::1111', '2a00:1450:4001:80e::200e', '2002:808:808::1', '2001:4860:4860::8888'])(
    'a public IPv6 address is none of them: %s',
    (address) => {
      expect(refusedRange(address)).toBeNull();
    },
  );
});
