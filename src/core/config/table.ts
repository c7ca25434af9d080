import { settings } from './settings.ts';

/** The settings as Markdown tables, one for each group; the README holds this text between its two marks. */
function settingsTable(): string {
  const groups = new Map<string, string[]>();
  for (const [name, setting] of Object.entries(settings)) {
    const rows = groups.get(setting.group) ?? [];
    rows.push(
      `| \`${name}\` | ${setting.shownDefault === '' ? '' : `\`${setting.shownDefault}\``} | ${setting.meaning} |`,
    );
    groups.set(setting.group, rows);
  }
  return [...groups]
    .map(([group, rows]) =>
      [`**${group}**`, '', '| Setting | Default | Meaning |', '|---|---|---|', ...rows].join('\n'),
    )
    .join('\n\n');
}

const begin = '<!-- settings: begin -->';
const end = '<!-- settings: end -->';

/** The README with its table of settings as it should be. */
export function withSettingsTable(readme: string): string {
  const from = readme.indexOf(begin);
  const to = readme.indexOf(end);
  if (from === -1 || to === -1) throw new Error('The README has lost the marks around its table of settings');
  return `${readme.slice(0, from + begin.length)}\n${settingsTable()}\n${readme.slice(to)}`;
}
