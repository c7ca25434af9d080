/** A client that the service hands out. */
export interface Download {
  /** The last part of its address. */
  name: string;
  bytes: number;
  /** Its SHA-512 as npm writes it: `sha512-…`. */
  integrity: string;
  /** Its SHA-256 in hexadecimal digits, as pip reads it. */
  sha256: string;
}

const about: readonly [pattern: RegExp, text: string][] = [
  [/^sdk\.tgz$/, 'SDK for TypeScript and JavaScript'],
  [/^cli\.tgz$/, 'Command line'],
  [/\.whl$/, 'Client for Python'],
];

/** The page beside the downloads, in Markdown. `files` is null while they are built. */
export function downloadsText(files: readonly Download[] | null, { baseUrl, version }: Served): string {
  return `# Downloads

Clients in the version of this server, ${version}. None of them is on a public registry: install them by the addresses below.

${files === null ? 'They are being built. Reload this page in a few seconds.' : fileTable(files, version)}

## TypeScript and JavaScript

Node.js 20 or later, browsers and edge runtimes; \`import\` and \`require\`; types included; no dependencies.

\`\`\`console
npm install ${baseUrl}/downloads/sdk.tgz
\`\`\`

## Command line

Node.js 20 or later. Run it from here, or install the program \`fernpost\`.

\`\`\`console
npx ${baseUrl}/downloads/cli.tgz --help
npm install --global ${baseUrl}/downloads/cli.tgz
\`\`\`

## Python

Python 3.9 or later; types included; needs httpx.

\`\`\`console
pip install ${wheelUrl(files, { baseUrl, version })}
\`\`\`

## After an upgrade of the server

Run the same command again to get the client of the new version. A lock file keeps the integrity of the archive that it was written for, so \`npm ci\`
refuses the archive of another version. Where builds must not depend on the server, keep the archive in your repository:

\`\`\`console
curl --create-dirs --output vendor/fernpost-sdk.tgz ${baseUrl}/downloads/sdk.tgz
npm install ./vendor/fernpost-sdk.tgz
\`\`\`

The packages are named \`@fernpost/sdk\`, \`@fernpost/cli\` and \`fernpost\`. A registry may have somebody else's package under the same name, so
always install them by address.
`;
}

/** Where the service is reached, and its version. */
export interface Served {
  baseUrl: string;
  version: string;
}

function fileTable(files: readonly Download[], version: string): string {
  const rows = files.map(({ name, bytes, integrity, sha256 }) => {
    const [, text = ''] = about.find(([pattern]) => pattern.test(name)) ?? [];
    // Pip checks the hash of a link.
    const link = name.endsWith('.whl') ? `/downloads/${name}#sha256=${sha256}` : `/downloads/${name}`;
    return `| [${name}](${link}) | ${text} | ${version} | ${Math.ceil(bytes / 1_000)}\u00a0kB | \`${integrity}\` |`;
  });
  return `| File | Contents | Version | Size | Integrity |\n|---|---|---|---|---|\n${rows.join('\n')}`;
}

function wheelUrl(files: readonly Download[] | null, { baseUrl, version }: Served): string {
  const wheel = files?.find(({ name }) => name.endsWith('.whl'));
  const address = `${baseUrl}/downloads/fernpost-${version}-py3-none-any.whl`;
  return wheel === undefined ? address : `'${address}#sha256=${wheel.sha256}'`;
}
