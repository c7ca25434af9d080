import fc from 'fast-check';
import { expect, test } from 'vitest';
import { brandStyle, contrast, logoOf, type PageBrand, readableColor } from '../../../src/lib/texts/footer.ts';

const brand: PageBrand = {
  logoUrl: null,
  logoAlt: '',
  primaryColor: '#0f766e',
  fontFamily: 'serif',
  postalAddress: '',
};

test('contrast is that of WCAG: 21 between black and white, 1 between a color and itself', () => {
  expect(contrast('#000000', '#ffffff')).toBeCloseTo(21, 5);
  expect(contrast('#767676', '#ffffff')).toBeCloseTo(4.54, 2);
  expect(contrast('#0f766e', '#0f766e')).toBe(1);
});

test('any color of a brand can be read on both grounds, and text on its buttons', () => {
  const color = fc.integer({ min: 0, max: 0xffffff }).map((n) => `#${n.toString(16).padStart(6, '0')}`);
  fc.assert(
    fc.property(color, (primaryColor) => {
      for (const ground of ['#ffffff', '#1c2128'])
        expect(contrast(readableColor(ground, primaryColor), ground)).toBeGreaterThanOrEqual(4.5);
      const pairs = [...brandStyle({ ...brand, primaryColor }).matchAll(/--accent:(#\w{6});--onaccent:(#\w{6})/g)];
      expect(pairs).toHaveLength(2);
      for (const [, accent = '', on = ''] of pairs) expect(contrast(accent, on)).toBeGreaterThanOrEqual(4.5);
    }),
  );
});

test('a color that is readable stays as it is', () => {
  expect(readableColor('#ffffff', '#0f766e')).toBe('#0f766e');
});

test.each([
  ['https://images.example/logo.png', 'https://images.example/logo.png'],
  [`https://images.example/a.png" onerror="alert(1)`, 'https://images.example/a.png%22%20onerror=%22alert(1)'],
  [`https://images.example/a;script-src 'unsafe-inline'`, null],
  ['https://images.example/a,b', null],
  ['javascript:alert(1)', null],
  ['data:image/svg+xml,<svg onload=alert(1)>', null],
  ['{{ logo }}', null],
])('of %s as a logo the page loads %s', (logoUrl, loaded) => {
  expect(logoOf({ ...brand, logoUrl })).toBe(loaded);
});
