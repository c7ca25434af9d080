import { isAbsolute } from 'node:path';
import { StartError } from '@fernpost/local-stack';
import { expect, test } from 'vitest';
import { reachableHost, readStartConfig, wantedPorts } from '../../../src/main/start/settings.ts';
import { summaryLines } from '../../../src/main/start/summary.ts';

test('each wrong setting is one line that names it', () => {
  const start = () => readStartConfig({ PORT: 'many', TEMPORAL_UI_PORT: '70000' });
  expect(start).toThrow(StartError);
  expect(start).toThrow(/^PORT .*\nTEMPORAL_UI_PORT /m);
});

test('production needs no JWT_SECRET from the person who starts it: it is made and kept', () => {
  expect(readStartConfig({ NODE_ENV: 'production' }).NODE_ENV).toBe('production');
});

test('settings of servers elsewhere are refused without their address', () => {
  const pooled = { DIRECT_DATABASE_URL: 'postgres://db.example/fernpost' };
  expect(() => readStartConfig(pooled)).toThrow('DATABASE_URL is missing: DIRECT_DATABASE_URL is set and needs it');
  expect(() => readStartConfig({ TEMPORAL_API_KEY: 'key' })).toThrow('TEMPORAL_ADDRESS is missing: TEMPORAL_API_KEY');
  expect(readStartConfig({ TEMPORAL_API_KEY: 'key', TEMPORAL_ADDRESS: 'cloud.example:7233' }).TEMPORAL_API_KEY).toBe(
    'key',
  );
});

test('DATA_DIR is absolute, so that every process means the same folder', () => {
  expect(isAbsolute(readStartConfig({ DATA_DIR: 'somewhere' }).DATA_DIR)).toBe(true);
});

test('only what is started needs a port', () => {
  const names = (env: Record<string, string>) => wantedPorts(readStartConfig(env)).map(({ setting }) => setting);
  expect(names({})).toEqual([
    'PORT',
    'SMTP_IN_PORT',
    'SANDBOX_PORT',
    'TEMPORAL_PORT',
    'TEMPORAL_UI_PORT',
    'POSTGRES_PORT',
  ]);
  expect(names({ POSTMARK_SERVER_TOKEN: 'token' })).not.toContain('SANDBOX_PORT');
  expect(names({ TEMPORAL_ADDRESS: 'temporal:7233', SMTP_IN_PORT: '0' })).toEqual([
    'PORT',
    'SANDBOX_PORT',
    'POSTGRES_PORT',
  ]);
  expect(names({ DATABASE_URL: 'postgres://db/fernpost' })).not.toContain('POSTGRES_PORT');
});

test.each([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '[::1]'],
  ['192.0.2.7', '192.0.2.7'],
  ['::1', '[::1]'],
])('what listens on %s is asked at %s', (listens, asked) => {
  expect(reachableHost(listens)).toBe(asked);
});

test('the summary holds a curl line that a shell reads as one request with the key and the sender', () => {
  const places = {
    baseUrl: 'http://localhost:3000',
    sandboxUrl: 'http://localhost:8025',
    temporalAddress: 'localhost:7233',
    temporalUiUrl: 'http://localhost:8233',
  };
  const project = {
    ...places,
    projectId: 'id',
    publicKey: 'pk_example',
    secretKey: 'sk_example',
    sender: 'hello@fernpost.test',
    login: { email: 'owner@fernpost.test', password: 'long enough' },
  };
  const start = { project, places, smtp: '127.0.0.1:2525', dataDir: '/srv/fernpost', seconds: 12 };
  const lines = summaryLines({ ...start, dashboardPending: false });
  expect(lines.join('\n')).not.toContain('being built');
  expect(summaryLines({ ...start, dashboardPending: true }).join('\n')).toMatch(/Dashboard .*being built/);
  const curl = lines.find((line) => line.includes('curl')) ?? '';
  expect(curl).toContain("curl http://localhost:3000/v1/send -H 'Authorization: Bearer sk_example'");
  const body = /-d '([^']*)'$/.exec(curl)?.[1] ?? '';
  expect(JSON.parse(body)).toMatchObject({ to: 'ada@example.com', from: 'hello@fernpost.test' });
  for (const place of [
    'http://localhost:8025',
    'http://localhost:8233',
    '/srv/fernpost/first-project.json',
    '127.0.0.1:2525',
  ])
    expect(lines.join('\n')).toContain(place);
});

test('mail is taken by SMTP on the machine of a developer, and in a deployment only where it is asked for', () => {
  const ports = (env: Record<string, string>) => {
    const { SMTP_IN_PORT, SMTP_IN_TLS_PORT } = readStartConfig(env);
    return [SMTP_IN_PORT, SMTP_IN_TLS_PORT];
  };
  expect(ports({})).toEqual([2525, null]);
  expect(ports({ SMTP_IN_PORT: '0' })).toEqual([null, null]);
  expect(ports({ POSTMARK_SERVER_TOKEN: 'token' })).toEqual([null, null]);
  expect(ports({ NODE_ENV: 'production' })).toEqual([null, null]);
  const tls = { NODE_ENV: 'production', SMTP_IN_TLS_CERT: '/tls/cert.pem', SMTP_IN_TLS_KEY: '/tls/key.pem' };
  expect(ports(tls)).toEqual([587, 465]);
  expect(ports({ ...tls, SMTP_IN_PORT: '2525', SMTP_IN_TLS_PORT: '0' })).toEqual([2525, null]);
});
