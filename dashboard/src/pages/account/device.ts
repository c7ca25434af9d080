// In this order: browsers built on another one name that one too.
const browsers = [
  ['Edge', /\bEdg(?:e|A|iOS)?\//],
  ['Opera', /\bOPR\//],
  ['Firefox', /\b(?:Firefox|FxiOS)\//],
  ['Chrome', /\b(?:Chrome|HeadlessChrome|CriOS)\//],
  ['Safari', /\bSafari\//],
] as const;

const systems = [
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
  ['Android', /\bAndroid\b/],
  ['Windows', /\bWindows\b/],
  ['macOS', /\bMac OS X\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['Linux', /\bLinux\b/],
] as const;

type Names = readonly (readonly [name: string, pattern: RegExp])[];
const find = (names: Names, userAgent: string) => names.find(([, pattern]) => pattern.test(userAgent))?.[0];

/** Returns the common name of the browser and system in a `User-Agent` header, or its beginning where neither is known. */
export function deviceName(userAgent: string): string {
  const [browser, system] = [find(browsers, userAgent), find(systems, userAgent)];
  if (browser && system) return `${browser} on ${system}`;
  return browser ?? system ?? (userAgent.slice(0, 40) || 'Unknown device');
}
