import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, extname, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { cli as earlier } from '@fernpost/earlier-name';
import { type Body, type Fernpost, type Reply, unescapeVariables } from '@fernpost/sdk';
import { Command } from 'commander';
import { clientOf } from '../settings.ts';
import { ofFile, print, table, UsageError } from '../terminal.ts';

/** The content that an option names: itself, the file after an "@", or standard input for "-". */
export function contentOf(value: string): Promise<string> | string {
  if (value === '-') return text(process.stdin);
  if (!value.startsWith('@')) return value;
  try {
    return readFileSync(value.slice(1), 'utf8');
  } catch {
    throw new UsageError(`${value.slice(1)} cannot be read.`);
  }
}

/** A rendered file of templates: HTML with our variables, and its metadata. */
interface RenderedFile {
  html: string;
  subject?: string;
}

/** The kinds of files that are templates. */
const templateFiles = /\.(tsx|jsx|mjml|html)$/;

/**
 * Renders a template on this machine: a React Email component, MJML or HTML. `{{ variables }}` stay, and each prop of a component
 * becomes the variable of its name.
 * @throws UsageError when the tool that renders it is not installed beside the file, or the file has no template
 */
async function renderFile(path: string): Promise<RenderedFile> {
  const kind = extname(path);
  if (kind === '.html') return titled(readFileSync(path, 'utf8'));
  if (kind === '.mjml') return titled(await renderMjml(path));
  return renderComponent(path);
}

interface Mjml {
  default?: Mjml;
  (source: string, options: object): Promise<MjmlResult> | MjmlResult;
}
interface MjmlResult {
  html: string;
  errors: { formattedMessage: string }[];
}

async function renderMjml(path: string): Promise<string> {
  const tool = load<Mjml>(path, 'mjml');
  const { html, errors } = await (tool.default ?? tool)(readFileSync(path, 'utf8'), {
    filePath: path,
    keepComments: false,
    minify: false,
    validationLevel: 'soft',
  });
  if (errors.length > 0) throw new UsageError(`${path}: ${errors.map((one) => one.formattedMessage).join('\n')}`);
  return html;
}

interface Component {
  (props: object): unknown;
  subject?: string;
}

async function renderComponent(path: string): Promise<RenderedFile> {
  const { createElement } = load<{ createElement(type: () => unknown): unknown }>(path, 'react');
  const { render } = load<{ render(element: unknown): Promise<string> }>(path, '@react-email/render');
  const { createJiti } = await import('jiti');
  const extensions = ['.tsx', '.jsx', '.ts', '.js', '.mjs', '.cjs', '.json'];
  const jiti = createJiti(path, { jsx: { runtime: 'automatic' }, extensions, tryNative: false });
  const module = await jiti.import<{ default?: Component; subject?: string }>(path);
  const component = module.default;
  if (typeof component !== 'function') throw new UsageError(`${path} has no component as its default export.`);
  const html = await render(createElement(() => component(variables)));
  const subject = module.subject ?? component.subject;
  return { html: unescapeVariables(html), ...(subject === undefined ? {} : { subject }) };
}

// Whatever name a component asks for is a variable, so that its defaults never stand in its place.
const variables = new Proxy(
  {},
  { get: (_, name) => (typeof name === 'symbol' || name === 'children' ? undefined : `{{${name}}}`) },
);

function titled(html: string): RenderedFile {
  const title = /<title>\s*([^<]+?)\s*<\/title>/i.exec(html)?.[1];
  return { html, ...(title === undefined ? {} : { subject: title }) };
}

/** A package of the developer's own project. */
function load<Module>(path: string, name: string): Module {
  try {
    return createRequire(path)(name) as Module;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND')
      throw new UsageError(`${path} needs the package ${name}: npm install ${name}`);
    throw error;
  }
}

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
