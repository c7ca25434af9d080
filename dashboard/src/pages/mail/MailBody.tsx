import { Blocks, Code2, ImagePlus, LayoutTemplate, type LucideIcon, Palette, Undo2 } from 'lucide-react';
import { lazy, type ReactNode, Suspense, useRef, useState } from 'react';
import { CodeEditor, type Insert } from '../../code/CodeEditor.tsx';
import { EmailEditor } from '../../editor/EmailEditor.tsx';
import { Button } from '../../ui/Button.tsx';
import { ConfirmDialog } from '../../ui/Dialog.tsx';
import { BrandDialog } from './BrandDialog.tsx';
import { useBrand, useSource } from './brand.ts';
import type { MailContent } from './content.ts';
import { ImageDialog } from './ImageDialog.tsx';
import { MailChecks } from './MailChecks.tsx';
import { SaveBlockDialog, type SavedBlock, SavedBlocksDialog, useSavedBlocks } from './SavedBlocks.tsx';
import { useSenderDomains, usualSender } from './senders.ts';
import { type Layout, useLayout } from './use-layout.ts';
import { useVariables } from './variables.ts';
import './composer.css';

// The starters come when they are asked for.
const LayoutDialog = lazy(() => import('./LayoutDialog.tsx').then((part) => ({ default: part.LayoutDialog })));

type Dialog = 'image' | 'layout' | 'brand' | 'blocks' | 'html';

/**
 * Edits the body of a message: as blocks, or as HTML where it was written as HTML. Beside it are the settings of the selected block,
 * what the whole email can be made of, what recipients would stumble over, and the preview where one is given.
 */
export function MailBody({
  content,
  email,
  problem,
  onChange,
  preview,
}: {
  content: MailContent;
  /** Names the message for what can be undone after a reload. */
  email?: string;
  problem: string | undefined;
  onChange: (change: Partial<MailContent>) => void;
  preview?: ReactNode;
}) {
  const variables = useVariables();
  const saved = useSavedBlocks();
  const [saving, setSaving] = useState<SavedBlock['content'] | null>(null);
  const sourceOf = useSource();
  const brand = useBrand();
  const insert = useRef<Insert | null>(null);
  const [dialog, setDialog] = useState<Dialog | null>(null);
  const layout = useLayout(content, usualSender(useSenderDomains() ?? []), onChange);
  const { document } = content;
  const side = (
    <>
      {problem ? (
        <span className="text-sm text-bad" role="alert">
          {problem}
        </span>
      ) : null}
      <Tools isDocument={document !== null} back={layout.back} onOpen={setDialog} />
      <MailChecks content={content} />
    </>
  );
  return (
    <div className="mail-desk" data-previewed={preview ? true : undefined}>
      {document ? (
        <EmailEditor
          key={layout.generation}
          initial={document.content}
          email={email}
          variables={variables}
          saved={saved}
          brand={brand}
          side={side}
          onSave={(blocks) => setSaving(blocks.map((block) => ({ ...block })))}
          onChange={(blocks) => onChange({ document: { ...document, content: blocks } })}
        />
      ) : (
        <>
          <div className="mail-code">
            <CodeEditor
              key={layout.generation}
              label="Body"
              value={content.body}
              variables={variables}
              insert={insert}
              onChange={(body) => onChange({ body })}
            />
          </div>
          <div className="mail-side">{side}</div>
        </>
      )}
      {preview}
      {dialog ? (
        <BodyDialog
          dialog={dialog}
          content={content}
          sourceOf={sourceOf}
          onInsert={(tag) => insert.current?.(tag)}
          onLayout={layout.choose}
          onChange={onChange}
          onClose={() => setDialog(null)}
        />
      ) : null}
      {saving ? <SaveBlockDialog content={saving} onClose={() => setSaving(null)} /> : null}
    </div>
  );
}

function Tools({
  isDocument,
  back,
  onOpen,
}: {
  isDocument: boolean;
  back: ReturnType<typeof useLayout>['back'];
  onOpen: (dialog: Dialog) => void;
}) {
  const tool = (name: string, Icon: LucideIcon, run: () => void) => (
    <Button size="small" variant="plain" onClick={run}>
      <Icon aria-hidden /> {name}
    </Button>
  );
  return (
    <section aria-label="Email" className="mail-tools">
      <h2>Email</h2>
      <p className="muted">
        {isDocument ? 'Type / for blocks and {{ for variables.' : 'HTML with Liquid. Type {{ for variables.'}
      </p>
      {tool('Layouts', LayoutTemplate, () => onOpen('layout'))}
      {back ? tool(back.name, Undo2, back.run) : null}
      {isDocument ? (
        <>
          {tool('Saved blocks', Blocks, () => onOpen('blocks'))}
          {tool('Brand kit', Palette, () => onOpen('brand'))}
          {tool('Edit as HTML', Code2, () => onOpen('html'))}
        </>
      ) : (
        tool('Insert image', ImagePlus, () => onOpen('image'))
      )}
    </section>
  );
}

function BodyDialog({
  dialog,
  content,
  sourceOf,
  onInsert,
  onLayout,
  onChange,
  onClose,
}: {
  dialog: Dialog;
  content: MailContent;
  sourceOf: ReturnType<typeof useSource>;
  onInsert: (tag: string) => void;
  onLayout: (layout: Layout) => void;
  onChange: (change: Partial<MailContent>) => void;
  onClose: () => void;
}) {
  switch (dialog) {
    case 'image':
      return <ImageDialog onInsert={onInsert} onClose={onClose} />;
    case 'blocks':
      return <SavedBlocksDialog onClose={onClose} />;
    case 'brand':
      return <BrandDialog onClose={onClose} />;
    case 'layout':
      return (
        <Suspense fallback={null}>
          <LayoutDialog onChoose={onLayout} onClose={onClose} />
        </Suspense>
      );
    case 'html':
      return (
        <ConfirmDialog
          title="Edit this email as HTML?"
          action="Edit as HTML"
          variant="primary"
          wayOut="Keep blocks"
          onConfirm={async () => onChange({ document: null, body: sourceOf(content) })}
          onClose={onClose}
        >
          Once you save, the email is HTML and no longer follows the brand kit. It cannot be turned back into blocks.
        </ConfirmDialog>
      );
  }
}
