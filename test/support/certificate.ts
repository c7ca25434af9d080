import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';

/** A key and a certificate for it that signs itself, as PEM. */
export interface TestCertificate {
  privateKey: KeyObject;
  pem: string;
}

/** Makes an RSA certificate (RFC 5280, 4.1) that is valid from a day ago, or between the given instants. */
export function aCertificate(
  from = new Date(Date.now() - 86_400_000),
  to = new Date(Date.now() + 365 * 86_400_000),
): TestCertificate {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const algorithm = sequence(identifier('2a864886f70d01010b'), tagged(0x05));
  const name = sequence(tagged(0x31, sequence(identifier('550403'), tagged(0x0c, Buffer.from('sns.test')))));
  const body = sequence(
    tagged(0xa0, tagged(0x02, Buffer.from([2]))),
    tagged(0x02, Buffer.from([1])),
    algorithm,
    name,
    sequence(instant(from), instant(to)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
  );
  const der = sequence(
    body,
    algorithm,
    tagged(0x03, Buffer.concat([Buffer.from([0]), sign('sha256', body, privateKey)])),
  );
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return { privateKey, pem: `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n` };
}

function tagged(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function sequence(...parts: Buffer[]): Buffer {
  return tagged(0x30, ...parts);
}

function identifier(hex: string): Buffer {
  return tagged(0x06, Buffer.from(hex, 'hex'));
}

function instant(date: Date): Buffer {
  return tagged(0x18, Buffer.from(`${date.toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`));
}
