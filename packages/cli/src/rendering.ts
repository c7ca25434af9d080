import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { unescapeVariables } from '@fernpost/sdk';
import { UsageError } from './errors.ts';

/** What a file of templates gives: HTML with our variables, and what it says about itself. */
export interface RenderedFile {
  html: string;
  subject?: string;
}

/** The kinds of files that are templates. */
export const templateFiles = /\.(tsx|jsx|mjml|html)$/;

/**
 * Renders a template on this machine: a React Email component, MJML or HTML. `{{ variables }}` stay, and each prop of a component
 * becomes the variable of its name.
 * @throws UsageError when the tool that renders it is not installed beside the file, or the file has no template
 */
export async function renderFile(path: string): Promise<RenderedFile> {
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
