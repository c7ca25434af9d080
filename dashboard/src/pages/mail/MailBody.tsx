import { Blocks, Code2, ImagePlus, LayoutTemplate, Palette } from 'lucide-react';
import { lazy, Suspense, useRef, useState } from 'react';
import { loaded } from '../../api/load.ts';
import { Button } from '../../ui/Button.tsx';
import type { Insert } from '../../ui/CodeEditor.tsx';
import { ConfirmDialog } from '../../ui/Dialog.tsx';
import { Loading } from '../../ui/States.tsx';
import { BrandDialog } from './BrandDialog.tsx';
import { useBrand, useSource } from './brand.ts';
import type { MailContent } from './content.ts';
import { ImageDialog } from './ImageDialog.tsx';
import { LayoutDialog } from './LayoutDialog.tsx';
import { SaveBlockDialog, type SavedBlock, SavedBlocksDialog, useSavedBlocks } from './SavedBlocks.tsx';
import { VariableField } from './VariableField.tsx';
import { useVariables } from './variables.ts';

const CodeEditor = lazy(() =>
  loaded(() => import('../../ui/CodeEditor.tsx')).then(({ CodeEditor: editor }) => ({ default: editor })),
);
const EmailEditor = lazy(() =>
  loaded(() => import('../../editor/EmailEditor.tsx')).then(({ EmailEditor: editor }) => ({ default: editor })),
);

/** What a message says: as blocks, or as HTML where it was written as HTML. */
export function MailBody({
  content,
  problem,
  onChange,
}: {
  content: MailContent;
  problem: string | undefined;
  onChange: (change: Partial<MailContent>) => void;
}) {
  const variables = useVariables();
  const saved = useSavedBlocks();
  const [saving, setSaving] = useState<SavedBlock['content'] | null>(null);
  const sourceOf = useSource();
  const { primaryColor } = useBrand();
  const insert = useRef<Insert | null>(null);
  const [dialog, setDialog] = useState<'image' | 'layout' | 'brand' | 'blocks' | 'html' | null>(null);
  // Another layout begins another editor.
  const [layout, setLayout] = useState(0);
  const close = () => setDialog(null);
  const { document } = content;
  return (
    <div className="field">
      {document ? (
        <VariableField
          label="Preheader"
          hint="Shown behind the subject in the inbox."
          maxLength={300}
          value={document.preheader}
          onText={(preheader) => onChange({ document: { ...document, preheader } })}
        />
      ) : null}
      <div className="row">
        <span className="muted">
          {document ? 'Type / for blocks and {{ for variables.' : 'HTML with Liquid. Type {{ for variables.'}
        </span>
        <Button size="small" onClick={() => setDialog('layout')}>
          <LayoutTemplate aria-hidden /> Layouts
        </Button>
        {document ? (
          <>
            <Button size="small" onClick={() => setDialog('blocks')}>
              <Blocks aria-hidden /> Saved blocks
            </Button>
            <Button size="small" onClick={() => setDialog('brand')}>
              <Palette aria-hidden /> Brand kit
            </Button>
            <Button size="small" onClick={() => setDialog('html')}>
              <Code2 aria-hidden /> Edit as HTML
            </Button>
          </>
        ) : (
          <Button size="small" onClick={() => setDialog('image')}>
            <ImagePlus aria-hidden /> Insert image
          </Button>
        )}
      </div>
      <Suspense fallback={<Loading />}>
        {document ? (
          <EmailEditor
            key={layout}
            initial={document.content}
            variables={variables}
            saved={saved}
            onSave={(blocks) => setSaving(blocks.map((block) => ({ ...block })))}
            color={primaryColor}
            onChange={(blocks) => onChange({ document: { ...document, content: blocks } })}
          />
        ) : (
          <CodeEditor
            label="Body"
            value={content.body}
            variables={variables}
            insert={insert}
            onChange={(body) => onChange({ body })}
          />
        )}
      </Suspense>
      {problem ? (
        <span className="text-sm text-bad" role="alert">
          {problem}
        </span>
      ) : null}
      {dialog === 'image' ? <ImageDialog onInsert={(tag) => insert.current?.(tag)} onClose={close} /> : null}
      {dialog === 'blocks' ? <SavedBlocksDialog onClose={close} /> : null}
      {saving ? <SaveBlockDialog content={saving} onClose={() => setSaving(null)} /> : null}
      {dialog === 'brand' ? <BrandDialog onClose={close} /> : null}
      {dialog === 'layout' ? (
        <LayoutDialog
          onChoose={(chosen) => {
            setLayout(layout + 1);
            onChange({
              document: chosen.document,
              body: '',
              ...(content.subject === '' ? { subject: chosen.subject } : {}),
            });
          }}
          onClose={close}
        />
      ) : null}
      {dialog === 'html' && document ? (
        <ConfirmDialog
          title="Edit this email as HTML?"
          action="Edit as HTML"
          look="primary"
          wayOut="Keep blocks"
          onConfirm={async () => onChange({ document: null, body: sourceOf(content) })}
          onClose={close}
        >
          Once you save, the email is HTML and no longer follows the brand kit. It cannot be turned back into blocks.
        </ConfirmDialog>
      ) : null}
    </div>
  );
}
