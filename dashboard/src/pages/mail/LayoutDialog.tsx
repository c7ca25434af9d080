import type { EmailDocument } from '@fernpost/email-document';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { useProjectId } from '../../app/address.ts';
import { deployment } from '../../app/deployment.ts';
import { Button } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { SearchField } from '../../ui/SearchField.tsx';
import { Shown } from '../../ui/States.tsx';
import { counted } from '../../words/numbers.ts';
import { subjectText } from '../../words/subjects.ts';
import { useBrand } from './brand.ts';
import { blankDocument, contentOf } from './content.ts';
import { families } from './starters/index.ts';
import { Thumbnail } from './Thumbnail.tsx';
import type { Layout } from './use-layout.ts';

interface Choice {
  id: string;
  name: string;
  about: string;
  layout: Layout;
}

const choice = (id: string, name: string, about: string, document: EmailDocument, subject: string): Choice => ({
  id,
  name,
  about,
  layout: { document, body: '', subject },
});
const blank = choice('blank', 'Blank', 'An empty email.', blankDocument, '');
const groups = families.map(({ name, starters }) => ({
  name,
  choices: starters.map(({ id, name, about, document, subject }) => choice(id, name, about, document, subject)),
}));

/** Chooses what an email begins with: a layout of the product, or a template of the project. */
export function LayoutDialog({ onChoose, onClose }: { onChoose: (layout: Layout) => void; onClose: () => void }) {
  const choose = (layout: Layout) => {
    onChoose(layout);
    onClose();
  };
  return (
    <Dialog
      title="Start from a layout"
      description="Replaces the content of this email. You can undo it."
      wide
      onClose={onClose}
    >
      <div className="stack">
        <Choices label="Blank email" choices={[blank]} onChoose={choose} />
        {groups.map(({ name, choices }) => (
          <section key={name} className="stack">
            <h3>{name}</h3>
            <Choices label={name} choices={choices} onChoose={choose} />
          </section>
        ))}
        <OwnTemplates onChoose={choose} />
      </div>
      <footer>
        <Button onClick={onClose}>Cancel</Button>
      </footer>
    </Dialog>
  );
}

const pageSize = 20;

function OwnTemplates({ onChoose }: { onChoose: (layout: Layout) => void }) {
  const project = useProjectId();
  const [search, setSearch] = useState('');
  const templates = useQuery({
    queryKey: ['templates', project, 'layouts', search],
    placeholderData: keepPreviousData,
    queryFn: () => answer(api.GET('/templates', { params: { query: { search, page: 1, pageSize } } })),
  });
  return (
    <Shown query={templates}>
      {({ data, total }) =>
        total === 0 && search === '' ? null : (
          <section className="stack" aria-labelledby="own-templates">
            <h3 id="own-templates">Your templates</h3>
            {total > pageSize || search !== '' ? (
              <SearchField label="Search templates" value={search} onChange={setSearch} />
            ) : null}
            <Choices
              label="Your templates"
              choices={data.map((template) => {
                const { name: _, ...layout } = contentOf(template);
                return { id: template.id, name: template.name, about: subjectText(template.subject), layout };
              })}
              onChoose={onChoose}
            />
            {total > data.length ? (
              <p className="muted">
                The newest {pageSize} of {counted(total, 'template')}. Search to find others.
              </p>
            ) : null}
            {total === 0 ? <p className="muted">No templates match</p> : null}
          </section>
        )
      }
    </Shown>
  );
}

function Choices({
  label,
  choices,
  onChoose,
}: {
  label: string;
  choices: readonly Choice[];
  onChoose: (layout: Layout) => void;
}) {
  const brand = useBrand();
  const { data } = useQuery(deployment);
  const icons = data && `${data.urls.api}/brand/icons`;
  return (
    <ul className="layouts" aria-label={label}>
      {choices.map(({ id, name, about, layout }) => (
        <li key={id}>
          {layout.document ? <Thumbnail document={layout.document} brand={brand} icons={icons} /> : null}
          <button type="button" onClick={() => onChoose(layout)}>
            <strong dir="auto">{name}</strong>
            <span className="muted" dir="auto">
              {about}
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}
