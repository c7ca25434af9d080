import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { earlierName } from '@fernpost/earlier-name';
import { describe, expect, test } from 'vitest';
import { readSession } from '../../src/accounts/sessions.ts';
import { erasureKeyOf } from '../../src/contacts/erased.ts';
import { isSigned } from '../../src/insight/erasures/certificate.ts';
import type { Erasure } from '../../src/insight/erasures/entity.ts';
import { dependentSecrets } from '../../src/lib/config/secrets.ts';
import { unseal } from '../../src/lib/seal.ts';
import { verifyLinkToken } from '../../src/templates/content/links.ts';
import { encryptingCodec } from '../../temporal/connection.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

// Applied migrations and recorded histories are never edited.
const kept = [
  /^packages\/earlier-name\/src\/index\.ts$/,
  /^migrations\/Migration2026112[123]\d{6}_\w+\.ts$/,
  /^test\/replay\/histories\//,
  // Retaken before a release.
  /^docs\/screenshots\//,
];

test('the earlier name stands in one file of the sources and in one line of the changelog', () => {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root });
  const paths = listed.toString().split('\0').filter(Boolean);
  expect(paths.length).toBeGreaterThan(1_000);
  expect(paths.filter((path) => path.toLowerCase().includes(earlierName))).toEqual([]);
  const named = paths.filter((path) => !kept.some((place) => place.test(path)) && linesOf(path).length > 0);
  expect(named).toEqual(['CHANGELOG.md']);
  expect(linesOf('CHANGELOG.md')).toHaveLength(1);
});

function linesOf(path: string): string[] {
  let text: string;
  try {
    text = readFileSync(root + path, 'utf8');
  } catch {
    // Deleted, and not committed yet.
    return [];
  }
  return text.split('\n').filter((line) => line.toLowerCase().includes(earlierName));
}

// Made by the last commit with the earlier name.
describe('what the earlier release has made', () => {
  const own = secretsOf('a secret of thirty-two bytes or more');
  const trial = secretsOf(null);
  const contactId = '0199d2a4-0000-7000-8000-000000000003';

  test('stored secrets are decrypted, those of trials too', () => {
    const sealed = 'v1.9w8g4bO0CxoRO00Mi3xITFMwA6xLv05IKuBs3M0irUpmyjhD8q41JBZyUwZXrGOuW-rEOnKWvA';
    expect(unseal(sealed, own.encryptionKeys)).toBe('sk_from_the_earlier_release');
    const ofTrial = 'v1.JstMQMrvHT-QRIykj0KkmncPQ-3lPzLTa0IddmkSrqppAUo9U5NqbK0';
    expect(unseal(ofTrial, trial.encryptionKeys)).toBe('sk_of_a_trial');
  });

  test('erased addresses are recognized, and certificates are verified byte for byte', () => {
    const { subjectOf, publicKey } = erasureKeyOf('5f'.repeat(32));
    expect(subjectOf('ada@example.com')).toBe('bfc9928c0f4f0b435a8a502860f0241b37f6f88dff987a669d1cc7ca95ecd314');
    expect(publicKey).toContain('MCowBQYDK2VwAyEAMREr/piiijQw91LW3QQOaI9Ot3Re/0hJ4eyHVdmvoJI=');
    const certificate = Buffer.from(
      'eyJmb3JtYXQiOiJwb3N0aG9ybi1lcmFzdXJlLzEiLCJpZCI6IjAxOTlkMmE0LTAwMDAtNzAwMC04MDAwLTAwMDAwMDAwMDAwMSIsInByb2plY3RJZCI6IjAxOTlkMmE0LTAwMDAtNzAwMC04MDAwLTAwMDAwMDAwMDAwMiIsImNvbnRhY3RJZCI6IjAxOTlkMmE0LTAwMDAtNzAwMC04MDAwLTAwMDAwMDAwMDAwMyIsInN1YmplY3QiOiJiZmM5OTI4YzBmNGYwYjQzNWE4YTUwMjg2MGYwMjQxYjM3ZjZmODhkZmY5ODdhNjY5ZDFjYzdjYTk1ZWNkMzE0IiwicmVmZXJlbmNlIjoidGlja2V0IDQ3MTEiLCJmaW5hbCI6dHJ1ZSwic3RlcHMiOltdfQ==',
      'base64',
    ).toString();
    expect(JSON.parse(certificate)).toMatchObject({ format: `${earlierName}-erasure/1`, contactId });
    const signature = 'XD1onFO5UM7uJu9QRpVfqMDDFaAhq+S3HBkN/quw569ofUIKW+ifEDmiczEZHNzTwTp1lXP6CiouTdBSib9FDw==';
    expect(isSigned({ certificate, signature, publicKey } as Erasure)).toBe(true);
    expect(isSigned({ certificate: `${certificate} `, signature, publicKey } as Erasure)).toBe(false);
  });

  test('payloads in Temporal are decrypted', async () => {
    const data =
      'qj20ZIsHS+ylDyJBSe6ShmsujIPhx2PUhvx89OQyP/TsuXMde27yhPE1BJ+pc8/0LovuaM2oezdQzf/fuX7GsPI5XWtFWpVzn2spHi1pfF4=';
    const { decode } = encryptingCodec('a codec key of thirty-two bytes or more');
    const [opened] = await decode([
      { metadata: { encoding: Buffer.from('binary/encrypted') }, data: Buffer.from(data, 'base64') },
    ]);
    expect(Buffer.from(opened?.data ?? []).toString()).toBe('"from the earlier release"');
  });

  test('sessions and the links of recipients are accepted', async () => {
    const head = 'eyJhbGciOiJIUzI1NiJ9';
    const claims =
      'eyJpZCI6IjAxOTlkMmE0LTAwMDAtNzAwMC04MDAwLTAwMDAwMDAwMDAwNCIsInN2IjoyLCJqdGkiOiJhYWUxMGJhMy02ZGMwLTQzODMtYTFlMi1hZGNmYThiNTRkMDQiLCJpYXQiOjE3OTU1MDcyMDAsImV4cCI6MTc5NjExMjAwMH0';
    const claimsOfTrial =
      'eyJpZCI6IjAxOTlkMmE0LTAwMDAtNzAwMC04MDAwLTAwMDAwMDAwMDAwNCIsInN2IjoyLCJqdGkiOiIyNjBhMGE1YS1mOWEwLTQ1MjMtYmUwZC01ZGQyNTAxOGQzYjciLCJpYXQiOjE3OTU1MDcyMDAsImV4cCI6MTc5NjExMjAwMH0';
    const now = new Date('2026-11-25T08:00:00Z');
    const session = { id: '0199d2a4-0000-7000-8000-000000000004', sv: 2 };
    const signature = 'KyhLvU0Ov1n54dsQ_yQIvxv4qYRNRBRqb2OQqFjjocM';
    expect(await readSession(`${head}.${claims}.${signature}`, own.sessionSecrets, now)).toEqual(session);
    const signatureOfTrial = 'ESmdr1cvLpRSZIfNAMMWTYeLz1Df0uBtdDHTcoPt1oE';
    expect(await readSession(`${head}.${claimsOfTrial}.${signatureOfTrial}`, trial.sessionSecrets, now)).toEqual(
      session,
    );
    expect(verifyLinkToken(contactId, 'bMk6BkMHJehWXBFJ4soFXw', own.LINK_SECRET)).toBe(true);
    expect(verifyLinkToken(contactId, 'hk46_1i9KzomD0M5_Xr1NQ', trial.LINK_SECRET)).toBe(true);
  });
});

function secretsOf(JWT_SECRET: string | null) {
  return dependentSecrets({
    JWT_SECRET,
    JWT_SECRET_PREVIOUS: null,
    APP_ENCRYPTION_KEY: null,
    APP_ENCRYPTION_KEY_PREVIOUS: null,
    LINK_SECRET: null,
    LINK_SECRET_PREVIOUS: null,
    TEMPORAL_CODEC_KEY: null,
    TEMPORAL_CODEC_KEY_PREVIOUS: null,
  });
}
