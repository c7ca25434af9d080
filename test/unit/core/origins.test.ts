import { expect, test } from 'vitest';
import { trustedOrigins } from '../../../src/http/app.ts';
import { readConfig } from '../../../src/lib/config/config.ts';

test('pages of this machine are trusted by each of its names, at the same port alone; other hosts by the name that is set', () => {
  const own = trustedOrigins(
    readConfig({ DASHBOARD_URI: 'http://localhost:3000', API_URI: 'https://api.example.com' }),
  );
  expect(own).toContain('http://127.0.0.1:3000');
  expect(own).toContain('http://localhost:3000');
  expect(own).toContain('http://[::1]:3000');
  expect(own).toContain('https://api.example.com');
  for (const foreign of ['http://127.0.0.1:3001', 'https://127.0.0.1:3000', 'https://localhost', 'https://example.com'])
    expect(own).not.toContain(foreign);
});
