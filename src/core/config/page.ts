import { settings } from './settings.ts';

const introduction = `# Settings

Settings are read from the environment once, at the start. An invalid value stops the process with a line that names it.
An empty value counts as unset.
`;

/** The page of the documentation that lists every setting, as Markdown: a table for each group. */
export function settingsPage(): string {
  const groups = new Map<string, string[]>();
  for (const [name, { group, shownDefault, meaning }] of Object.entries(settings)) {
    const rows = groups.get(group) ?? [];
    rows.push(`| \`${name}\` | ${shownDefault === '' ? '' : `\`${shownDefault}\``} | ${meaning} |`);
    groups.set(group, rows);
  }
  const tables = [...groups].map(
    ([group, rows]) => `\n## ${group}\n\n| Setting | Default | Meaning |\n|---|---|---|\n${rows.join('\n')}\n`,
  );
  return introduction + tables.join('');
}
