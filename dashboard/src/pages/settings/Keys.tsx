import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { Button } from '../../ui/Button.tsx';
import { Copy } from '../../ui/Copy.tsx';
import { ConfirmDialog } from '../../ui/Dialog.tsx';
import { Card } from '../../ui/Page.tsx';
import { toast } from '../../ui/toasts.tsx';
import { mayAdminister, type Project } from './project.ts';

/** The two keys of the API. The secret one stays covered until somebody asks for it. */
export function Keys({ project }: { project: Project }) {
  const [isShown, setShown] = useState(false);
  const [rotating, setRotating] = useState(false);
  const queries = useQueryClient();
  return (
    <div className="stack">
      <Card title="Secret key">
        <div className="stack">
          <p className="muted">
            For your servers: it may do everything in this project. Never put it into a page or an app.
          </p>
          <div className="row">
            <code className="break">{isShown ? project.secret : `${project.secret.slice(0, 3)}${'•'.repeat(24)}`}</code>
            <Button size="small" aria-pressed={isShown} onClick={() => setShown(!isShown)}>
              {isShown ? 'Hide' : 'Show'}
            </Button>
            <Copy text={project.secret} what="the secret key" />
          </div>
        </div>
      </Card>
      <Card title="Public key">
        <div className="stack">
          <p className="muted">For browsers and apps: it can only track events.</p>
          <div className="row">
            <code className="break">{project.public}</code>
            <Copy text={project.public} what="the public key" />
          </div>
        </div>
      </Card>
      {mayAdminister(project) ? (
        <div>
          <Button look="danger" onClick={() => setRotating(true)}>
            Replace both keys
          </Button>
        </div>
      ) : null}
      {rotating ? (
        <ConfirmDialog
          title="Replace both keys"
          action="Replace the keys"
          onConfirm={async () => {
            await answer(
              api.POST('/users/@me/projects/{id}/regenerate-keys', { params: { path: { id: project.id } } }),
            );
            await queries.invalidateQueries({ queryKey: ['projects'] });
            toast('Both keys are new');
          }}
          onClose={() => setRotating(false)}
        >
          The present keys of {project.name} stop working at once, everywhere. Have the places at hand that use them.
        </ConfirmDialog>
      ) : null}
    </div>
  );
}
