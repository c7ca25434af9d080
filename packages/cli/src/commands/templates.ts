import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, extname, join, resolve } from 'node:path';
import { cli as earlier } from '@fernpost/earlier-name';
import type { Body, Fernpost, Reply } from '@fernpost/sdk';
import { Command } from 'commander';
import { ofFile, UsageError } from '../errors.ts';
import { print, table } from '../output.ts';
import { renderFile, templateFiles } from '../rendering.ts';
import { clientOf } from '../settings.ts';

type Template = Reply<'getTemplate'>;
type Fields = Pick<Body<'createTemplate'>, 'subject' | 'from' | 'type'>;

/** `fernpost.json` beside the templates: what all have in common, and what single ones have by the name of their file. */
interface Settings extends Partial<Fields> {
  templates?: Record<string, Partial<Fields>>;
}

interface Pushed {
  name: string;
  file: string;
  id: string | null;
  change: 'created' | 'updated' | 'unchanged';
}

/** `fernpost templates push`. */
export function templateCommands(): Command {
  return new Command('templates')
    .description('templates of the project')
    .addCommand(
      new Command('push')
        .description(
          'render the files of a folder (.tsx and .jsx of React Email, .mjml, .html) on this machine, and save each as the template of its name',
        )
        .argument('<folder>')
        .option('--from <address>', 'sender, where fernpost.json in the folder names none')
        .option('--dry-run', 'render and compare, save nothing')
        .action(push),
    );
}

async function push(folder: string, options: { from?: string; dryRun?: true }, command: Command): Promise<void> {
  const client = clientOf(command);
  const settings = settingsOf(folder);
  const files = filesOf(folder);
  // Everything is rendered before anything is saved: a broken file changes nothing.
  const wanted: Body<'createTemplate'>[] = [];
  for (const file of files) wanted.push(await ofFile(file, () => templateOf(file, settings, options.from)));
  const known = new Map<string, Template>();
  for await (const template of client.templates.list({ pageSize: 100 })) known.set(template.name, template);
  const pushed: Pushed[] = [];
  for (const [i, template] of wanted.entries()) {
    const there = known.get(template.name);
    const file = files[i] ?? '';
    const done = options.dryRun ? planOf(there, template) : await ofFile(file, () => save(client, there, template));
    pushed.push({ name: template.name, file, ...done });
  }
  print(command, pushed, table(pushed.map(({ change, name, id }) => [change, name, id])));
}

function planOf(there: Template | undefined, wanted: Body<'createTemplate'>): Pick<Pushed, 'id' | 'change'> {
  if (there === undefined) return { id: null, change: 'created' };
  const differs = (['subject', 'body', 'from', 'type'] as const).some((name) => there[name] !== wanted[name]);
  return { id: there.id, change: differs ? 'updated' : 'unchanged' };
}

async function save(client: Fernpost, there: Template | undefined, wanted: Body<'createTemplate'>) {
  const plan = planOf(there, wanted);
  if (there === undefined) return { ...plan, id: (await client.templates.create(wanted)).id };
  if (plan.change === 'updated') await client.templates.update(there.id, wanted);
  return plan;
}

async function templateOf(path: string, settings: Settings, from?: string): Promise<Body<'createTemplate'>> {
  const name = basename(path, extname(path));
  const { html, subject } = await renderFile(path);
  const own = settings.templates?.[name] ?? {};
  const fields = {
    subject: own.subject ?? subject ?? settings.subject,
    from: own.from ?? settings.from ?? from,
    type: own.type ?? settings.type ?? 'TRANSACTIONAL',
  };
  if (fields.subject === undefined)
    throw new UsageError(`${path} has no subject: export const subject, a title, or fernpost.json gives it one.`);
  if (fields.from === undefined) throw new UsageError(`${path} has no sender: --from, or fernpost.json gives it one.`);
  return { name, body: html, ...fields, subject: fields.subject, from: fields.from };
}

function filesOf(folder: string): string[] {
  try {
    const files = readdirSync(folder).filter((name) => templateFiles.test(name));
    if (files.length > 0) return files.sort().map((name) => resolve(folder, name));
  } catch {
    throw new UsageError(`${folder} is no folder that can be read.`);
  }
  throw new UsageError(`${folder} has no templates: .tsx, .jsx, .mjml or .html.`);
}

function settingsOf(folder: string): Settings {
  const file = ['fernpost.json', earlier.templatesFile]
    .map((name) => join(folder, name))
    .find((path) => existsSync(path));
  if (file === undefined) return {};
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Settings;
  } catch {
    throw new UsageError(`${file} is not valid JSON.`);
  }
}
