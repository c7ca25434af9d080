import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { answer, api } from '../../../api/client.ts';
import { deployment } from '../../../app/deployment.ts';
import { whoAmI } from '../../../app/session.ts';
import { Button } from '../../../ui/Button.tsx';
import { CopyButton } from '../../../ui/CopyButton.tsx';
import { Note, Problem } from '../../../ui/States.tsx';
import { Tabs } from '../../../ui/Tabs.tsx';
import { presets } from '../../settings/keys/scopes.ts';
import { useMayAdminister } from '../../settings/project.ts';
import { Confirmation } from './Confirmation.tsx';
import { languages } from './snippets.ts';

/** A key that was made on this page. The service keeps its hash alone, so it can be shown until the page is left. */
export interface NewKey {
  id: string;
  key: string;
  createdAt: string;
}

/** A first request: a key of its own, the request with it in four languages, and what comes of it as it happens. */
export function SendFirst({
  project,
  domain,
  newKey,
  onKey,
}: {
  project: string;
  /** A verified domain to send from. */
  domain: string;
  newKey: NewKey | null;
  onKey: (key: NewKey) => void;
}) {
  const isAdmin = useMayAdminister();
  const create = useMutation({
    mutationFn: () =>
      answer(
        api.POST('/users/@me/projects/{id}/api-keys', {
          params: { path: { id: project } },
          body: { name: 'Getting started', scopes: [...(presets.send?.scopes ?? [])] },
        }),
      ),
    onSuccess: ({ id, key, createdAt }) => onKey({ id, key, createdAt }),
  });
  if (!isAdmin)
    return (
      <Note>
        Requests need an API key. Only admins and the owner can create one: ask them, or{' '}
        <a href="/docs/quick-start">read the quick start</a>.
      </Note>
    );
  if (newKey === null)
    return (
      <div className="stack">
        <p className="muted">
          Create an API key that can only send emails. It appears here once, in a request ready to paste.
        </p>
        <div>
          <Button variant="primary" busy={create.isPending} onClick={() => create.mutate()}>
            Create API key
          </Button>
        </div>
        {create.error ? <Problem error={create.error} /> : null}
      </div>
    );
  return (
    <div className="stack">
      <Note tone="warn">Copy the key before you leave this page. You can’t see it again.</Note>
      <div className="row">
        <code className="break rounded-md border border-line bg-sunken px-2 py-1" data-slot="secret">
          {newKey.key}
        </code>
        <CopyButton text={newKey.key} what="the API key" />
        <Link
          to="/app/$project/settings"
          params={{ project }}
          search={{ tab: 'keys' }}
          className="inline-block min-h-6 content-center"
        >
          Manage keys
        </Link>
      </div>
      <Snippets apiKey={newKey.key} domain={domain} />
      <Confirmation project={project} newKey={newKey} />
    </div>
  );
}

function Snippets({ apiKey, domain }: { apiKey: string; domain: string }) {
  const [language, setLanguage] = useState<(typeof languages)[number]['key']>('curl');
  const { data: config } = useQuery(deployment);
  const { data: user } = useQuery(whoAmI);
  if (!config || !user) return null;
  const request = { url: config.urls.api.replace(/\/$/, ''), key: apiKey, from: `hello@${domain}`, to: user.email };
  return (
    <Tabs
      label="Language"
      value={language}
      onChange={setLanguage}
      tabs={languages.map(({ key, name, run, code }) => ({
        key,
        name,
        content: (
          <div className="stack">
            <div className="row justify-between">
              <span className="muted">{run}</span>
              <CopyButton text={code(request)} what={`the ${name} request`} />
            </div>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.1.1) */}
            <section className="json" tabIndex={0} aria-label={`${name} request`}>
              <pre>{code(request)}</pre>
            </section>
          </div>
        ),
      }))}
    />
  );
}
