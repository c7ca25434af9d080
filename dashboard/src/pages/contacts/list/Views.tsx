import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Bookmark } from 'lucide-react';
import { useState } from 'react';
import { answer, api } from '../../../api/client.ts';
import type { components } from '../../../api/schema.d.ts';
import { useProjectId } from '../../../app/address.ts';
import { isEqual } from '../../../app/equal.ts';
import { inOrder, type Tree } from '../../../conditions/tree.ts';
import { Button } from '../../../ui/Button.tsx';
import { ConfirmDialog, Dialog } from '../../../ui/Dialog.tsx';
import { TextField } from '../../../ui/Field.tsx';
import { Form, FormProblem, problemOf } from '../../../ui/Form.tsx';
import { Menu, MenuChoice, MenuItem, MenuLabel, MenuSeparator } from '../../../ui/Menu.tsx';
import { toast } from '../../../ui/toasts.tsx';
import { filterOf, type ListState } from './list.ts';

type View = components['schemas']['ContactView'];

/** The list that a view shows. Views are kept as they were written: what the service ignores in a condition, the filter beside the list leaves out. */
function stateOfView({ id, filter, sort, dir, columns }: View): ListState {
  return {
    search: filter.search ?? '',
    subscribed: filter.subscribed,
    condition: written(filter.condition as unknown as Tree | null | undefined),
    sort,
    dir,
    columns,
    view: id,
  };
}

const written = (condition: Tree | null | undefined) => (condition ? inOrder(condition) : null);

/** The saved views of the project, which everybody in it shares: choose, save, rename and delete them. */
export function Views({ state, onChange }: { state: ListState; onChange: (state: ListState) => void }) {
  const project = useProjectId();
  const queries = useQueryClient();
  const [dialog, setDialog] = useState<'new' | 'rename' | 'delete' | null>(null);
  const views = useQuery({
    queryKey: ['contact-views', project],
    queryFn: async () => (await answer(api.GET('/contacts/views'))).data,
  });
  const view = views.data?.find(({ id }) => id === state.view);
  const hasChanges =
    view !== undefined && !isEqual(stateOfView(view), { ...state, condition: written(state.condition) });
  const refresh = () => queries.invalidateQueries({ queryKey: ['contact-views', project] });
  const update = useMutation({
    mutationFn: (id: string) =>
      answer(api.PATCH('/contacts/views/{viewId}', { params: { path: { viewId: id } }, body: bodyOf(state) })),
    onSuccess: async (saved) => {
      await refresh();
      toast(`View “${saved.name}” updated`);
    },
  });
  const choose = (id: string) => {
    const chosen = views.data?.find((each) => each.id === id);
    onChange(chosen ? stateOfView(chosen) : everybody);
  };
  return (
    <>
      <Menu
        trigger={
          <Button busy={update.isPending}>
            <Bookmark aria-hidden /> <span className="break max-w-48 truncate">{view?.name ?? 'Views'}</span>
            {hasChanges ? ' (edited)' : ''}
          </Button>
        }
      >
        <MenuLabel>Saved views</MenuLabel>
        <MenuChoice
          label="Saved views"
          value={view?.id ?? ''}
          choices={[['', 'All contacts'], ...(views.data ?? []).map(({ id, name }) => [id, name] as const)]}
          onChange={choose}
        />
        <MenuSeparator />
        <MenuItem onSelect={() => setDialog('new')}>Save as new view</MenuItem>
        {view && hasChanges ? <MenuItem onSelect={() => update.mutate(view.id)}>Save changes to view</MenuItem> : null}
        {view ? <MenuItem onSelect={() => setDialog('rename')}>Rename view</MenuItem> : null}
        {view ? <MenuItem onSelect={() => setDialog('delete')}>Delete view</MenuItem> : null}
      </Menu>
      {dialog === 'new' || (dialog === 'rename' && view) ? (
        <NameDialog
          view={dialog === 'rename' ? (view ?? null) : null}
          state={state}
          onSaved={async (saved) => {
            await refresh();
            onChange(dialog === 'new' ? stateOfView(saved) : state);
          }}
          onClose={() => setDialog(null)}
        />
      ) : null}
      {dialog === 'delete' && view ? (
        <ConfirmDialog
          title={`Delete the view “${view.name}”?`}
          action="Delete view"
          onConfirm={async () => {
            await answer(api.DELETE('/contacts/views/{viewId}', { params: { path: { viewId: view.id } } }));
            await refresh();
            onChange({ ...state, view: undefined });
          }}
          onClose={() => setDialog(null)}
        >
          Everyone in this project loses the view. The contacts are kept.
        </ConfirmDialog>
      ) : null}
    </>
  );
}

const everybody: ListState = {
  search: '',
  subscribed: undefined,
  condition: null,
  sort: 'createdAt',
  dir: 'desc',
  columns: null,
  view: undefined,
};

function bodyOf(state: ListState) {
  const { sort, dir, columns } = state;
  return { filter: filterOf(state), sort, dir, columns: columns === null ? null : [...columns] };
}

function NameDialog({
  view,
  state,
  onSaved,
  onClose,
}: {
  /** Null for a new one. */
  view: View | null;
  state: ListState;
  onSaved: (view: View) => Promise<void>;
  onClose: () => void;
}) {
  const [name, setName] = useState(view?.name ?? '');
  const save = useMutation({
    mutationFn: () =>
      view
        ? answer(api.PATCH('/contacts/views/{viewId}', { params: { path: { viewId: view.id } }, body: { name } }))
        : answer(api.POST('/contacts/views', { body: { name, ...bodyOf(state) } })),
    onSuccess: async (saved) => {
      await onSaved(saved);
      toast(`View “${saved.name}” saved`);
      onClose();
    },
  });
  return (
    <Dialog
      title={view ? 'Rename view' : 'Save view'}
      description={view ? undefined : 'Saves filters, sort and columns for everyone in this project.'}
      onClose={onClose}
    >
      <Form onSubmit={() => save.mutate()}>
        <FormProblem error={save.error} fields={['name']} />
        <TextField
          label="Name of the view"
          required
          maxLength={100}
          value={name}
          problem={problemOf(save.error, 'name')}
          onChange={(event) => setName(event.target.value)}
        />
        <footer>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" busy={save.isPending} disabled={name.trim() === ''}>
            Save view
          </Button>
        </footer>
      </Form>
    </Dialog>
  );
}
