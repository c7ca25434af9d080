import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useCallback, useId, useState } from 'react';
import { answer, api } from '../../api/client.ts';
import { useProjectId } from '../../app/address.ts';
import { Address } from '../../ui/Address.tsx';
import { SelectField, TextField } from '../../ui/Field.tsx';
import { usePause } from '../../ui/pause.ts';
import { Loading, Note, Problem } from '../../ui/States.tsx';
import { inAppearance } from './appearance.ts';
import { useSource } from './brand.ts';
import type { MailContent } from './content.ts';
import './mail.css';

const widths = { desktop: 'Desktop', phone: 'Phone', text: 'Plain text' } as const;
const appearances = { light: 'Light', dark: 'Dark' } as const;

/** The message while it is written, as one recipient sees it. */
export function MailPreview({ content }: { content: MailContent }) {
  return (
    <section className="mail-beside stack" aria-label="Preview">
      <RenderedMail content={usePause(content, 400)} />
    </section>
  );
}

/** A message as one recipient sees it: the service renders it, as it renders what it sends. */
export function RenderedMail({ content }: { content: MailContent }) {
  const project = useProjectId();
  const [width, setWidth] = useState<keyof typeof widths>('desktop');
  const [appearance, setAppearance] = useState<keyof typeof appearances>('light');
  const [search, setSearch] = useState('');
  const { subject, type } = content;
  const body = useSource()(content);
  const wanted = usePause(search, 300);
  const choices = useId();
  const contact = useQuery({
    queryKey: ['contacts', project, 'preview', wanted],
    placeholderData: keepPreviousData,
    queryFn: async () =>
      (await answer(api.GET('/contacts', { params: { query: { limit: 8, search: wanted || undefined } } }))).data,
  });
  const found = contact.data ?? [];
  // Of two addresses of which one begins with the other, the one that was chosen.
  const person = found.find(({ email }) => email === wanted) ?? found[0] ?? null;
  const preview = useQuery({
    queryKey: ['preview', project, subject, body, type, person?.id],
    enabled: subject !== '' && body !== '' && !contact.isPending,
    placeholderData: keepPreviousData,
    retry: false,
    queryFn: () =>
      answer(api.POST('/templates/preview', { body: { subject, body, type, contactId: person?.id ?? null } })),
  });
  return (
    <>
      <div className="filters preview-choices">
        <TextField
          label="Preview as"
          type="search"
          placeholder="Search contacts"
          hint={
            person ? (
              <>
                Shown for <Address>{person.email}</Address>
              </>
            ) : (
              'No contact matches: shown without data'
            )
          }
          list={choices}
          value={search}
          onChange={(event) => setSearch(event.target.value)}
        />
        <datalist id={choices}>
          {found.map(({ id, email }) => (
            <option key={id} value={email} />
          ))}
        </datalist>
        <Choice label="Appearance" value={appearance} choices={appearances} onChange={setAppearance} />
        <Choice label="View" value={width} choices={widths} onChange={setWidth} />
      </div>
      {preview.error ? <Problem error={preview.error} /> : null}
      {preview.data ? (
        <>
          <p className="break" dir="auto">
            <strong>{preview.data.subject}</strong>
          </p>
          {width === 'text' ? (
            <pre className="break rounded-lg border border-line bg-sunken p-3 text-sm whitespace-pre-wrap">
              {preview.data.text ?? 'No text part'}
            </pre>
          ) : (
            <Frame html={inAppearance(preview.data.html, appearance)} width={width} appearance={appearance} />
          )}
        </>
      ) : preview.error ? null : subject === '' || body === '' ? (
        <Note>Write a subject and a body to see the preview.</Note>
      ) : (
        <FrameToCome width={width} />
      )}
    </>
  );
}

/** Stands where the rendered mail comes, as large, so that nothing below moves away from a pointer. */
function FrameToCome({ width }: { width: string }) {
  return (
    <>
      <p aria-hidden="true">&nbsp;</p>
      <div className="mail-preview p-3" data-width={width}>
        <Loading />
      </div>
    </>
  );
}

/** As wide as an email is on a computer, in pixels: narrower ones are laid out as on a phone. */
const desktopWidth = 640;

/** The rendered mail. At a desk it is laid out for a desk and shrunk to the room there is. */
function Frame({ html, width, appearance }: { html: string; width: 'desktop' | 'phone'; appearance: string }) {
  const [room, setRoom] = useState(desktopWidth);
  const measure = useCallback((element: HTMLDivElement | null) => {
    if (element === null) return;
    const observer = new ResizeObserver(() => setRoom(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const scale = width === 'desktop' ? Math.min(1, room / desktopWidth) : 1;
  return (
    <div ref={measure} className="mail-preview" data-width={width}>
      <iframe
        title="Email preview"
        style={{ width: `${100 / scale}%`, height: `${100 / scale}%`, transform: `scale(${scale})` }}
        // Nothing in a mail may run, open windows or send forms here.
        sandbox=""
        srcDoc={html}
        data-appearance={appearance}
      />
    </div>
  );
}

function Choice<Value extends string>({
  label,
  value,
  choices,
  onChange,
}: {
  label: string;
  value: Value;
  choices: Readonly<Record<Value, string>>;
  onChange: (value: Value) => void;
}) {
  return (
    <SelectField label={label} value={value} onChange={(event) => onChange(event.target.value as Value)}>
      {Object.entries<string>(choices).map(([each, name]) => (
        <option key={each} value={each}>
          {name}
        </option>
      ))}
    </SelectField>
  );
}
