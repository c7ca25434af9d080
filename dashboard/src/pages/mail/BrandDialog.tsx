import { fonts } from '@fernpost/email-document';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../api/client.ts';
import type { components } from '../../api/schema.d.ts';
import { useProjectId } from '../../app/address.ts';
import { ImagePicker } from '../../editor/ImagePicker.tsx';
import { Button } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { SelectField, TextArea, TextField } from '../../ui/Field.tsx';
import { Form } from '../../ui/Form.tsx';
import { Problem, Shown } from '../../ui/States.tsx';
import { toast } from '../../ui/toasts.tsx';
import { brandQuery } from './brand.ts';

type Brand = components['schemas']['BrandKit'];

/** Changes how all emails of the project look that are written as blocks. */
export function BrandDialog({ onClose }: { onClose: () => void }) {
  const brand = useQuery(brandQuery(useProjectId()));
  return (
    <Dialog
      title="Brand kit"
      description="Logo, colors, font and footer of every email written as blocks. Saving updates all templates and unsent campaigns."
      onClose={onClose}
    >
      <Shown query={brand}>{(saved) => <BrandForm saved={saved} onClose={onClose} />}</Shown>
    </Dialog>
  );
}

function BrandForm({ saved, onClose }: { saved: Brand; onClose: () => void }) {
  const project = useProjectId();
  const queries = useQueryClient();
  const [kit, setKit] = useState(saved);
  const change = (part: Partial<Brand>) => setKit((before) => ({ ...before, ...part }));
  const save = useMutation({
    mutationFn: () => answer(api.PUT('/brand', { body: kit })),
    onSuccess: async (stored) => {
      queries.setQueryData(brandQuery(project).queryKey, stored);
      toast('Brand kit saved');
      onClose();
      await queries.invalidateQueries({ queryKey: ['templates', project] });
      await queries.invalidateQueries({ queryKey: ['campaigns', project] });
    },
  });
  const color = (name: 'primaryColor' | 'textColor' | 'backgroundColor', label: string) => (
    <TextField
      label={label}
      type="color"
      value={kit[name]}
      onChange={(event) => change({ [name]: event.target.value })}
    />
  );
  return (
    <Form onSubmit={() => save.mutate()}>
      <div className="filters">
        <TextField
          label="Logo address"
          placeholder="https://"
          value={kit.logoUrl ?? ''}
          onChange={(event) => change({ logoUrl: event.target.value || null })}
        />
        <ImagePicker onPick={(logoUrl) => change({ logoUrl })} />
        <TextField
          label="Logo alt text"
          value={kit.logoAlt}
          onChange={(event) => change({ logoAlt: event.target.value })}
        />
      </div>
      <div className="filters">
        {color('primaryColor', 'Buttons and links')}
        {color('textColor', 'Text')}
        {color('backgroundColor', 'Background')}
        <SelectField
          label="Font"
          value={kit.font}
          onChange={(event) => change({ font: event.target.value as Brand['font'] })}
        >
          {Object.keys(fonts).map((name) => (
            <option key={name}>{name}</option>
          ))}
        </SelectField>
      </div>
      <TextArea
        label="Footer"
        maxLength={2000}
        value={kit.footer}
        onChange={(event) => change({ footer: event.target.value })}
      />
      <TextField
        label="Postal address"
        hint="Many countries require one in marketing email."
        maxLength={500}
        value={kit.postalAddress}
        onChange={(event) => change({ postalAddress: event.target.value })}
      />
      {save.error ? <Problem error={save.error} /> : null}
      <footer>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" busy={save.isPending}>
          Save brand kit
        </Button>
      </footer>
    </Form>
  );
}
