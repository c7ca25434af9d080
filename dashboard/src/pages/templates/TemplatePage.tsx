import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { History, Trash2 } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { ApiError } from '../../api/errors.ts';
import { useProjectId } from '../../app/address.ts';
import { ConflictDialog } from '../../app/ConflictDialog.tsx';
import { useCreatedHere } from '../../app/created.ts';
import { useDraft } from '../../app/draft.ts';
import { useUnsaved } from '../../app/unsaved.tsx';
import { Button } from '../../ui/Button.tsx';
import { ConfirmDialog } from '../../ui/Dialog.tsx';
import { MenuItem } from '../../ui/Menu.tsx';
import { ShownPage } from '../../ui/ShownPage.tsx';
import { Loading } from '../../ui/States.tsx';
import { toast } from '../../ui/toasts.tsx';
import { Composer, MoreMenu, PreviewButton, usePreview } from '../mail/Composer.tsx';
import { contentBody, contentNames, contentOf, contentText, type MailContent } from '../mail/content.ts';
import { HistoryDialog } from '../mail/HistoryDialog.tsx';
import { MailForm } from '../mail/MailForm.tsx';
import { newMessage, useSenderDomains } from '../mail/senders.ts';
import { TestDialog } from '../mail/TestDialog.tsx';

const storedOf = (template: Parameters<typeof contentOf>[0] & { revision: number }) => ({
  content: contentOf(template),
  revision: template.revision,
});

/** One template, new or saved. */
export function TemplatePage() {
  const project = useProjectId();
  const { template: id = 'new' } = useParams({ strict: false });
  const { key, isCreatedHere, onCreated } = useCreatedHere(id);
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
  const domains = useSenderDomains();
  const written = isCreatedHere ? template.data : undefined;
  if (id === 'new' && domains === undefined) return <Loading />;
  if (id === 'new' || written)
    return (
      <Editor
        key={key}
        id={written?.id ?? null}
        stored={written ? storedOf(written) : newMessage(domains)}
        above={above}
        onCreated={onCreated}
      />
    );
  return (
    <ShownPage query={template} above={above}>
      {(saved) => <Editor key={key} id={saved.id} stored={storedOf(saved)} above={above} onCreated={onCreated} />}
    </ShownPage>
  );
}

interface Stored {
  content: MailContent;
  revision: number | null;
}

/** Holds and saves the draft of a template. A new template has no ID; `onCreated` is called with it. */
function useTemplateDraft(id: string | null, stored: Stored, onCreated: (id: string) => void) {
  const project = useProjectId();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const path = { id: id ?? '' };
  return useDraft({
    stored,
    read: async () => storedOf(await answer(api.GET('/templates/{id}', { params: { path } }))),
    write: async (content, header) => {
      const body = contentBody(content);
      const template =
        id === null
          ? await answer(api.POST('/templates', { body }))
          : await answer(api.PATCH('/templates/{id}', { params: { path, header }, body }));
      return { ...storedOf(template), template };
    },
    onSaved: async ({ template }) => {
      toast('Template saved');
      queries.setQueryData(['templates', project, template.id], template);
      await queries.invalidateQueries({ queryKey: ['templates', project] });
      if (id !== null) return;
      onCreated(template.id);
      await navigate({
        to: '/app/$project/templates/$template',
        params: { project, template: template.id },
        ignoreBlocker: true,
      });
    },
  });
}

type SavedDialogName = 'delete' | 'history';

function Editor({
  id,
  stored,
  above,
  onCreated,
}: {
  id: string | null;
  stored: Stored;
  above: ReactNode;
  onCreated: (id: string) => void;
}) {
  const [dialog, setDialog] = useState<SavedDialogName | 'test' | null>(null);
  const draft = useTemplateDraft(id, stored, onCreated);
  const { content, hasChanges } = draft;
  const unsaved = useUnsaved(hasChanges && !draft.isSaving);
  const [isPreviewed, togglePreview] = usePreview();
  return (
    <Composer
      title="New template"
      name={content.name}
      onName={(name) => draft.change({ name })}
      above={above}
      error={draft.error}
      save={hasChanges && !draft.isSaving ? draft.save : null}
      onPreview={togglePreview}
      actions={
        <>
          <PreviewButton isOpen={isPreviewed} onClick={togglePreview} />
          <Button onClick={() => setDialog('test')}>Send test email</Button>
          {id === null ? null : <SavedActions onOpen={setDialog} />}
          <Button variant="primary" busy={draft.isSaving} disabled={!hasChanges} onClick={draft.save}>
            Save
          </Button>
        </>
      }
    >
      <MailForm
        content={content}
        email={`templates/${id ?? 'new'}`}
        generation={draft.generation}
        refused={draft.error instanceof ApiError ? draft.error : null}
        onChange={draft.change}
        isPreviewed={isPreviewed}
      />
      {draft.conflict ? (
        <ConflictDialog
          what="template"
          conflict={draft.conflict}
          names={contentNames}
          describe={contentText}
          onMine={draft.keepMine}
          onTheirs={draft.takeTheirs}
          onClose={draft.decideLater}
        />
      ) : null}
      {dialog === 'test' ? (
        <TestDialog
          kind="templates"
          name={content.name}
          id={id}
          save={id === null || hasChanges ? async () => (await draft.saveNow())?.template.id ?? null : null}
          onClose={() => setDialog(null)}
        />
      ) : null}
      {id !== null && dialog && dialog !== 'test' ? (
        <SavedDialog dialog={dialog} id={id} stored={stored} hasChanges={hasChanges} onClose={() => setDialog(null)} />
      ) : null}
      {unsaved}
    </Composer>
  );
}

function SavedActions({ onOpen }: { onOpen: (dialog: SavedDialogName) => void }) {
  return (
    <MoreMenu>
      <MenuItem onSelect={() => onOpen('history')}>
        <History aria-hidden /> Version history
      </MenuItem>
      <MenuItem onSelect={() => onOpen('delete')}>
        <Trash2 aria-hidden /> Delete template
      </MenuItem>
    </MoreMenu>
  );
}

function SavedDialog({
  dialog,
  id,
  stored: { content, revision },
  hasChanges,
  onClose,
}: {
  dialog: SavedDialogName;
  id: string;
  stored: Stored;
  hasChanges: boolean;
  onClose: () => void;
}) {
  const project = useProjectId();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const remove = async () => {
    await answer(api.DELETE('/templates/{id}', { params: { path: { id } } }));
    toast(`Template “${content.name}” deleted`);
    await navigate({ to: '/app/$project/templates', params: { project }, ignoreBlocker: true });
    await queries.invalidateQueries({ queryKey: ['templates', project] });
  };
  if (dialog === 'history')
    return revision === null ? null : (
      <HistoryDialog saved={{ kind: 'templates', id, content, revision }} hasChanges={hasChanges} onClose={onClose} />
    );
  return (
    <ConfirmDialog
      title={`Delete the template ${content.name}`}
      action="Delete template"
      onConfirm={remove}
      onClose={onClose}
    >
      {content.name} is deleted. Emails already sent keep their content.
    </ConfirmDialog>
  );
}
