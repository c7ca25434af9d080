import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { ConfigError, readConfig } from '../../../src/lib/config/config.ts';
import { openLastingTemporal, temporalSettings } from '../../../src/main/temporal/temporal-server.ts';
import { checkTemporal } from '../../../temporal/connection.ts';
import { aCertificate } from '../../support/certificate.ts';

test('a process goes on with certificates and an API key that were renewed, once they fit together', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fernpost-credentials-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [own, first, second] = [aCertificate(), aCertificate(), aCertificate()];
  const keyOf = ({ privateKey }: typeof own) => privateKey.export({ type: 'pkcs8', format: 'pem' });
  const write = (name: string, text: string | Buffer) => writeFileSync(join(folder, name), text);

  // Says of each call who made it.
  const calls: { certificate: Buffer; key: string | undefined }[] = [];
  const server = createSecureServer({ cert: own.pem, key: keyOf(own), requestCert: true, rejectUnauthorized: false });
  server.on('stream', (stream, headers) => {
    const socket = stream.session?.socket as TLSSocket | undefined;
    const raw = socket?.getPeerCertificate().raw ?? Buffer.alloc(0);
    calls.push({ certificate: raw, key: headers.authorization });
    stream.respond({ ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '5' }, { endStream: true });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());

  write('ca.pem', own.pem);
  write('client.pem', first.pem);
  write('client.key', keyOf(first));
  write('api-key', 'first-key\n');
  const config = readConfig({
    TEMPORAL_ADDRESS: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    TEMPORAL_TLS_CA: join(folder, 'ca.pem'),
    TEMPORAL_TLS_CERT: join(folder, 'client.pem'),
    TEMPORAL_TLS_KEY: join(folder, 'client.key'),
    TEMPORAL_TLS_SERVER_NAME: 'sns.test',
    TEMPORAL_API_KEY_FILE: join(folder, 'api-key'),
  });
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => lines.push(line) });
  await using temporal = openLastingTemporal(config, log, 20);
  const certificateOf = async () => {
    expect(await checkTemporal(temporal, 60_000)).toBe('namespace "default" does not exist');
    return calls.at(-1)?.certificate.toString('base64');
  };
  const inPem = ({ pem }: typeof own) => pem.replace(/-----.*-----|\n/g, '');
  expect([await certificateOf(), calls.at(-1)?.key]).toEqual([inPem(first), 'Bearer first-key']);

  // A certificate whose key has not come yet changes nothing, and is told once.
  write('client.pem', second.pem);
  await expect.poll(() => lines.filter((line) => line.includes('cannot be used yet')).length).toBe(1);
  expect(await certificateOf()).toBe(inPem(first));
  write('client.key', keyOf(second));
  write('api-key', 'second-key');
  await expect.poll(certificateOf).toBe(inPem(second));
  await expect
    .poll(async () => [await certificateOf(), calls.at(-1)?.key])
    .toEqual([inPem(second), 'Bearer second-key']);
  expect(lines.filter((line) => line.includes('cannot be used yet'))).toHaveLength(1);
});

test('an API key by file turns TLS on, wins over the setting, and a file that is missing is named', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fernpost-credentials-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'api-key');
  const settings = {
    TEMPORAL_ADDRESS: 'temporal.acme.test:7233',
    TEMPORAL_API_KEY_FILE: path,
    TEMPORAL_API_KEY: 'old',
  };
  expect(() => temporalSettings(readConfig(settings))).toThrow(ConfigError);
  writeFileSync(path, 'sesame\n');
  expect(temporalSettings(readConfig(settings))).toMatchObject({ apiKey: 'sesame', tls: {} });
});
