/** A React element, as `<Receipt number="A-17" />` makes one. */
export interface ReactElement {
  readonly type: unknown;
  readonly props: unknown;
  readonly key: string | null;
}

/** A request body whose `body`, or that of each of its `emails`, may be a React element in place of HTML. */
export type WithElements<Body> = {
  [Name in keyof Body]: Name extends 'body'
    ? Body[Name] | ReactElement
    : Name extends 'emails'
      ? Body[Name] extends readonly (infer One)[]
        ? WithElements<One>[]
        : Body[Name]
      : Body[Name];
};

type Render = (element: never) => string | Promise<string>;

/** The request body with HTML in place of React elements; itself where it has none. */
export function withHtml(body: unknown, render: Render | undefined): unknown {
  if (typeof body !== 'object' || body === null || body instanceof FormData) return body;
  const { body: content, emails } = body as { body?: unknown; emails?: unknown };
  if (isElement(content)) return htmlOf(content, render).then((html) => ({ ...body, body: html }));
  if (!(Array.isArray(emails) && emails.some((one) => isElement((one as { body?: unknown } | null)?.body))))
    return body;
  return Promise.all(emails.map((one) => withHtml(one, render))).then((all) => ({ ...body, emails: all }));
}

function isElement(value: unknown): value is ReactElement {
  if (typeof value !== 'object' || value === null) return false;
  const { $$typeof: kind } = value as { $$typeof?: unknown };
  return kind === Symbol.for('react.element') || kind === Symbol.for('react.transitional.element');
}

async function htmlOf(element: ReactElement, render: Render | undefined): Promise<string> {
  const make = render ?? (await installedRenderer());
  return unescapeVariables(await make(element as never));
}

async function installedRenderer(): Promise<Render> {
  const email = await load<{ render: Render }>('@react-email/render');
  if (email !== null) return email.render;
  const dom = await load<{ renderToStaticMarkup: (element: never) => string }>('react-dom/server');
  if (dom !== null) return (element) => `<!DOCTYPE html>${dom.renderToStaticMarkup(element)}`;
  throw new TypeError(
    'A React element as the body needs a package that renders it: npm install @react-email/render. In a bundle, pass `render` of that package to the client: new Fernpost({ …, render }).',
  );
}

/** A package of the application. Its name is a variable, so that no bundler looks for it. */
async function load<Module>(name: string): Promise<Module | null> {
  try {
    return (await import(/* webpackIgnore: true */ /* @vite-ignore */ name)) as Module;
  } catch (error) {
    // Another error comes from the package itself, and is to be seen.
    if (isMissing(error, name)) return null;
    throw error;
  }
}

function isMissing(error: unknown, name: string): boolean {
  const { message = '' } = error as { message?: string };
  const [scope = '', rest = ''] = name.split('/');
  const names = [name, scope.startsWith('@') ? `${scope}/${rest}` : scope];
  return names.some((one) => message.includes(`'${one}'`) || message.includes(`"${one}"`));
}

const entities: Readonly<Record<string, string>> = { quot: '"', '#x27': "'", '#39': "'", lt: '<', gt: '>', amp: '&' };

/** HTML whose variables are as they were written: React escapes what stands in `{{ … }}` and `{% … %}`. */
export function unescapeVariables(html: string): string {
  return html.replaceAll(/\{\{.*?\}\}|\{%.*?%\}/gs, (tag) =>
    tag.replaceAll(/&(quot|#x27|#39|lt|gt|amp);/g, (whole, name: string) => entities[name] ?? whole),
  );
}
