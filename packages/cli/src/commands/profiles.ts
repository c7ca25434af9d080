import { Command } from 'commander';
import { UsageError } from '../errors.ts';
import { print, printList } from '../output.ts';
import { readSettings, type Settings, writeSettings } from '../settings.ts';

/** `fernpost profiles list|use|remove`. */
export function profileCommands(): Command {
  return new Command('profiles')
    .description('logins by name: one for each project or service')
    .addCommand(
      new Command('list')
        .description('every profile; * marks the one that is used when none is named')
        .action((_, command: Command) => {
          const { current, profiles } = readSettings();
          const rows = Object.entries(profiles).map(([name, { url }]) => ({ name, url, current: name === current }));
          printList(
            command,
            rows,
            (row) => [row.current ? '*' : ' ', row.name, row.url],
            'No profiles: run "fernpost login".',
          );
        }),
      { isDefault: true },
    )
    .addCommand(
      new Command('use')
        .description('use a profile when none is named')
        .argument('<profile>')
        .action((profile: string, _, command: Command) => {
          const settings = withProfile(profile);
          writeSettings({ ...settings, current: profile });
          print(command, { current: profile }, `Commands use "${profile}" now: ${settings.profiles[profile]?.url}`);
        }),
    )
    .addCommand(
      new Command('remove')
        .description('forget a profile and its key')
        .argument('<profile>')
        .action((profile: string, _, command: Command) => {
          const { current, profiles } = withProfile(profile);
          const { [profile]: removed, ...others } = profiles;
          writeSettings({ current, profiles: others });
          print(command, { removed: profile }, `Removed "${profile}" (${removed?.url}). The key itself stays valid.`);
        }),
    );
}

function withProfile(name: string): Settings {
  const settings = readSettings();
  if (settings.profiles[name] !== undefined) return settings;
  const names = Object.keys(settings.profiles).join(', ');
  throw new UsageError(`There is no profile "${name}"${names === '' ? '' : `; there is ${names}`}.`);
}
