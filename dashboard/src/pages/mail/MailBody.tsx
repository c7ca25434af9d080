import { Blocks, Code2, ImagePlus, LayoutTemplate, Palette, Undo2 } from 'lucide-react';
import { useRef, useState } from 'react';
import { CodeEditor, type Insert } from '../../code/CodeEditor.tsx';
import { EmailEditor } from '../../editor/EmailEditor.tsx';
import { Button } from '../../ui/Button.tsx';
import { ConfirmDialog } from '../../ui/Dialog.tsx';
import { BrandDialog } from './BrandDialog.tsx';
import { useBrand, useSource } from './brand.ts';
import type { MailContent } from './content.ts';
import { ImageDialog } from './ImageDialog.tsx';
import { type Layout, LayoutDialog } from './LayoutDialog.tsx';
import { SaveBlockDialog, type SavedBlock, SavedBlocksDialog, useSavedBlocks } from './SavedBlocks.tsx';
import { useLayout } from './use-layout.ts';
import { VariableField } from './VariableField.tsx';
import { useVariables } from './variables.ts';

type Dialog = 'image' | 'layout' | 'brand' | 'blocks' | 'html';

/** Edits the body of a message: as blocks, or as HTML where it was written as HTML. */
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
  const [dialog, setDialog] = useState<Dialog | null>(null);
  const layout = useLayout(content, onChange);
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
      <Tools isDocument={document !== null} back={layout.back} onOpen={setDialog} />
      {document ? (
        <EmailEditor
          key={layout.generation}
          initial={document.content}
          variables={variables}
          saved={saved}
          onSave={(blocks) => setSaving(blocks.map((block) => ({ ...block })))}
          color={primaryColor}
          onChange={(blocks) => onChange({ document: { ...document, content: blocks } })}
        />
      ) : (
        <CodeEditor
          key={layout.generation}
          label="Body"
          value={content.body}
          variables={variables}
          insert={insert}
          onChange={(body) => onChange({ body })}
        />
      )}
      {problem ? (
        <span className="text-sm text-bad" role="alert">
          {problem}
        </span>
      ) : null}
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
  return (
    <div className="row mt-2">
      <span className="muted">
        {isDocument ? 'Type / for blocks and {{ for variables.' : 'HTML with Liquid. Type {{ for variables.'}
      </span>
      <Button size="small" onClick={() => onOpen('layout')}>
        <LayoutTemplate aria-hidden /> Layouts
      </Button>
      {back ? (
        <Button size="small" onClick={back.run}>
          <Undo2 aria-hidden /> {back.name}
        </Button>
      ) : null}
      {isDocument ? (
        <>
          <Button size="small" onClick={() => onOpen('blocks')}>
            <Blocks aria-hidden /> Saved blocks
          </Button>
          <Button size="small" onClick={() => onOpen('brand')}>
            <Palette aria-hidden /> Brand kit
          </Button>
          <Button size="small" onClick={() => onOpen('html')}>
            <Code2 aria-hidden /> Edit as HTML
          </Button>
        </>
      ) : (
        <Button size="small" onClick={() => onOpen('image')}>
          <ImagePlus aria-hidden /> Insert image
        </Button>
      )}
    </div>
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
      return <LayoutDialog onChoose={onLayout} onClose={onClose} />;
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
