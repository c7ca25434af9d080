import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { Button } from '../../ui/Button.tsx';
import { CopyButton } from '../../ui/CopyButton.tsx';
import { ConfirmDialog } from '../../ui/Dialog.tsx';
import { CheckField } from '../../ui/Field.tsx';
import { Card } from '../../ui/Page.tsx';
import { Note, Problem } from '../../ui/States.tsx';
import { toast } from '../../ui/toasts.tsx';
import { PublicKeyMode } from './keys/PublicKeyMode.tsx';
import { ScopedKeys } from './keys/ScopedKeys.tsx';
import { WaitingPlans } from './keys/WaitingPlans.tsx';
import { mayAdminister, type Project } from './project.ts';

/** The keys with scopes, and the two that every project has. The secret one stays covered until somebody asks for it. */
export function Keys({ project }: { project: Project }) {
  const [rotating, setRotating] = useState(false);
  const queries = useQueryClient();
  return (
    <div className="stack">
      <WaitingPlans project={project} />
      <ScopedKeys project={project} />
      <Card title="Secret key">
        <div className="stack">
          <p className="muted">
            For your servers. It has full access to this project. Never use it in a website or an app.
          </p>
          {project.secret === null ? <MissingSecret project={project} /> : <SecretKey secret={project.secret} />}
          {mayAdminister(project) ? <Visibility project={project} /> : null}
        </div>
      </Card>
      <Card title="Public key">
        <div className="stack">
          <p className="muted">For browsers and apps. It can only track events.</p>
          {project.public === null ? (
            <Note tone="bad">{unreadable}</Note>
          ) : (
            <div className="row">
              <code className="break">{project.public}</code>
              <CopyButton text={project.public} what="the public key" />
            </div>
          )}
          <PublicKeyMode project={project} />
        </div>
      </Card>
      {mayAdminister(project) ? (
        <div>
          <Button variant="danger" onClick={() => setRotating(true)}>
            Roll both keys
          </Button>
        </div>
      ) : null}
      {rotating ? (
        <ConfirmDialog
          title="Roll both keys?"
          action="Roll keys"
          onConfirm={async () => {
            await answer(
              api.POST('/users/@me/projects/{id}/regenerate-keys', { params: { path: { id: project.id } } }),
            );
            await queries.invalidateQueries({ queryKey: ['projects'] });
            toast('Both keys were rolled');
          }}
          onClose={() => setRotating(false)}
        >
          The current keys of {project.name} stop working immediately. Update every place that uses them.
        </ConfirmDialog>
      ) : null}
    </div>
  );
}

const unreadable =
  'This key still works but can’t be shown: the encryption key of this installation has changed. Roll both keys, or ask your administrator to restore the previous encryption key.';

function SecretKey({ secret }: { secret: string }) {
  const [isShown, setShown] = useState(false);
  return (
    <div className="row">
      <code className="break">{isShown ? secret : `${secret.slice(0, 3)}${'•'.repeat(24)}`}</code>
      <Button size="small" aria-pressed={isShown} onClick={() => setShown(!isShown)}>
        {isShown ? 'Hide' : 'Show'}
      </Button>
      <CopyButton text={secret} what="the secret key" />
    </div>
  );
}

function MissingSecret({ project }: { project: Project }) {
  if (project.hideSecretKey && !mayAdminister(project))
    return <Note>Only admins and the owner can see the secret key.</Note>;
  return <Note tone="bad">{unreadable}</Note>;
}

/** Whether members see the secret key, with which they could do what only admins may. */
function Visibility({ project }: { project: Project }) {
  const queries = useQueryClient();
  const change = useMutation({
    mutationFn: (hideSecretKey: boolean) =>
      answer(api.PATCH('/users/@me/projects/{id}', { params: { path: { id: project.id } }, body: { hideSecretKey } })),
    onSuccess: ({ hideSecretKey }) =>
      toast(hideSecretKey ? 'Members can no longer see the secret key' : 'Members can see the secret key'),
    onSettled: () => queries.invalidateQueries({ queryKey: ['projects'] }),
  });
  return (
    <>
      <CheckField
        label="Hide the secret key from members"
        hint="The secret key has admin access. Roll both keys afterwards if members have seen it."
        checked={change.isPending ? change.variables : project.hideSecretKey}
        disabled={change.isPending}
        onChange={(event) => change.mutate(event.target.checked)}
      />
      {change.error ? <Problem error={change.error} /> : null}
    </>
  );
}
