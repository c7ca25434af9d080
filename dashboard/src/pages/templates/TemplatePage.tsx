import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { ApiError } from '../../api/errors.ts';
import { useProjectId } from '../../app/address.ts';
import { Button } from '../../ui/Button.tsx';
import { ConfirmDialog } from '../../ui/Dialog.tsx';
import { Page } from '../../ui/Page.tsx';
import { ShownPage } from '../../ui/ShownPage.tsx';
import { Problem } from '../../ui/States.tsx';
import { toast } from '../../ui/toasts.tsx';
import { contentBody, contentOf, emptyContent, type MailContent } from '../mail/content.ts';
import { MailForm } from '../mail/MailForm.tsx';
import { MailPreview } from '../mail/MailPreview.tsx';
import { useUnsaved } from '../mail/unsaved.ts';

/** One template, new or saved. */
export function TemplatePage() {
  const project = useProjectId();
  const { template: id = 'new' } = useParams({ strict: false });
  const template = useQuery({
    queryKey: ['templates', project, id],
    enabled: id !== 'new',
    queryFn: () => answer(api.GET('/templates/{id}', { params: { path: { id } } })),
  });
  const above = (
    <Link to="/app/$project/templates" params={{ project }}>
      Templates
    </Link>
  );
  if (id === 'new') return <Editor key="new" id={null} saved={emptyContent} above={above} />;
  return (
    <ShownPage query={template} above={above}>
      {(saved) => <Editor key={saved.id} id={saved.id} saved={contentOf(saved)} above={above} />}
    </ShownPage>
  );
}

function Editor({ id, saved, above }: { id: string | null; saved: MailContent; above: ReactNode }) {
  const project = useProjectId();
  const [content, setContent] = useState(saved);
  const [deleting, setDeleting] = useState(false);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const hasChanges = JSON.stringify(content) !== JSON.stringify(saved);
  const save = useMutation({
    mutationFn: () =>
      id === null
        ? answer(api.POST('/templates', { body: contentBody(content) }))
        : answer(api.PATCH('/templates/{id}', { params: { path: { id } }, body: contentBody(content) })),
    onSuccess: async (made) => {
      toast('Template saved');
      queries.setQueryData(['templates', project, made.id], made);
      await queries.invalidateQueries({ queryKey: ['templates', project] });
      if (id === null)
        await navigate({
          to: '/app/$project/templates/$template',
          params: { project, template: made.id },
          ignoreBlocker: true,
        });
    },
  });
  const remove = async () => {
    if (id === null) return;
    await answer(api.DELETE('/templates/{id}', { params: { path: { id } } }));
    toast(`Template “${saved.name}” deleted`);
    await navigate({ to: '/app/$project/templates', params: { project }, ignoreBlocker: true });
    await queries.invalidateQueries({ queryKey: ['templates', project] });
  };
  useUnsaved(hasChanges && !save.isPending);
  return (
    <Page
      title={content.name || 'New template'}
      above={above}
      actions={
        <>
          {id === null ? null : (
            <Button look="danger" onClick={() => setDeleting(true)}>
              Delete
            </Button>
          )}
          <Button look="primary" busy={save.isPending} disabled={!hasChanges} onClick={() => save.mutate()}>
            Save
          </Button>
        </>
      }
    >
      <div className="stack">
        {save.error ? <Problem error={save.error} /> : null}
        <div className="writing">
          <MailForm
            content={content}
            refused={save.error instanceof ApiError ? save.error : null}
            onChange={(change) => setContent((before) => ({ ...before, ...change }))}
          />
          <MailPreview content={content} />
        </div>
      </div>
      {deleting ? (
        <ConfirmDialog
          title={`Delete the template ${saved.name}`}
          action="Delete the template"
          onConfirm={remove}
          onClose={() => setDeleting(false)}
        >
          {saved.name} is deleted. Mail that was sent with it keeps its content.
        </ConfirmDialog>
      ) : null}
    </Page>
  );
}
