import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../../api/client.ts';
import { Button } from '../../../ui/Button.tsx';
import { Menu, MenuItem } from '../../../ui/Menu.tsx';
import { saveFile } from '../../../ui/save-file.ts';
import { toast } from '../../../ui/toasts.tsx';
import { EraseDialog } from './EraseDialog.tsx';

/** The privacy requests of a contact: export of all their data, and erasure. */
export function PrivacyMenu({ id, email }: { id: string; email: string }) {
  const [isErasing, setErasing] = useState(false);
  const save = useMutation({
    mutationFn: () =>
      answer(
        api.GET('/contacts/{id}/export', { params: { path: { id } }, parseAs: 'blob' }),
      ) as Promise<unknown> as Promise<Blob>,
    onSuccess: (file) => saveFile(file, `contact-${id}.json`),
    onError: ({ message }) => toast(message, 'bad'),
  });
  return (
    <>
      <Menu trigger={<Button busy={save.isPending}>Privacy</Button>}>
        <MenuItem onSelect={() => save.mutate()}>Export data</MenuItem>
        <MenuItem onSelect={() => setErasing(true)}>Erase contact</MenuItem>
      </Menu>
      {isErasing ? <EraseDialog id={id} email={email} onClose={() => setErasing(false)} /> : null}
    </>
  );
}
