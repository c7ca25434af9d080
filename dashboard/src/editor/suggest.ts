import { isVariableName } from '@fernpost/email-document';
import { type Editor, Extension, type Range } from '@tiptap/core';
import { PluginKey } from '@tiptap/pm/state';
import Suggestion from '@tiptap/suggestion';
import { type Insertable, insertables, insertVariable } from './catalog.ts';

/** A list of what can be inserted, open at the cursor. */
export interface Suggested {
  label: string;
  names: readonly string[];
  chosen: number;
  place: DOMRect | null;
  choose(index: number): void;
}

interface Options {
  variables: () => readonly string[];
  /** The project's saved blocks, offered beside the built-in ones. */
  saved: () => readonly Insertable[];
  show: (suggested: Suggested | null) => void;
}

interface Choice {
  name: string;
  insert: (editor: Editor) => void;
}

/** Text after a slash searches blocks; text after two braces searches variables. */
export const Suggestions = Extension.create<Options>({
  name: 'suggestions',
  addOptions: () => ({ variables: () => [], saved: () => [], show: () => undefined }),
  addProseMirrorPlugins() {
    const { variables, saved, show } = this.options;
    const list = (key: string, char: string, label: string, find: (query: string) => Choice[]) =>
      Suggestion<Choice, Choice>({
        pluginKey: new PluginKey(key),
        editor: this.editor,
        char,
        allowedPrefixes: char === '/' ? [' '] : null,
        allowSpaces: char === '/',
        items: ({ query }) => find(query).slice(0, 20),
        command: ({ editor, range, props }) => accept(editor, range, props),
        render: () => popup(label, show),
      });
    return [
      list('blocks', '/', 'Blocks', (query) => [...insertables, ...saved()].filter((each) => fits(each, query))),
      list('variables', '{{', 'Variables', (query) =>
        namesFor(query.trim(), variables()).map((name) => ({ name, insert: (editor) => insertVariable(editor, name) })),
      ),
    ];
  },
});

// The typed name need not be a contact field: it may be a value of the request, or of the item of a list.
function namesFor(query: string, variables: readonly string[]): string[] {
  const known = variables.filter((name) => name.toLowerCase().includes(query.toLowerCase()));
  return isVariableName(query) && !query.endsWith('.') && !known.includes(query) ? [...known, query] : known;
}

function fits({ name, words }: Insertable, query: string): boolean {
  return `${name} ${words}`.toLowerCase().includes(query.toLowerCase());
}

function accept(editor: Editor, range: Range, { insert }: Choice): void {
  editor.chain().focus().deleteRange(range).run();
  insert(editor);
}

function popup(label: string, show: Options['show']) {
  let items: Choice[] = [];
  let chosen = 0;
  let accepts: (choice: Choice) => void = () => undefined;
  let place: (() => DOMRect | null) | null | undefined;
  const choose = (index: number) => {
    const choice = items[index];
    if (choice) accepts(choice);
  };
  const tell = () =>
    show(
      items.length === 0
        ? null
        : { label, names: items.map(({ name }) => name), chosen, place: place?.() ?? null, choose },
    );
  const take = (props: { items: Choice[]; command: (choice: Choice) => void; clientRect?: typeof place }) => {
    ({ items } = props);
    accepts = props.command;
    place = props.clientRect;
    chosen = 0;
    tell();
  };
  return {
    onStart: take,
    onUpdate: take,
    onExit: () => show(null),
    onKeyDown({ event }: { event: KeyboardEvent }) {
      if (items.length === 0) return false;
      if (event.key === 'Escape') {
        items = [];
        tell();
        return true;
      }
      if (event.key === 'Enter' || event.key === 'Tab') {
        choose(chosen);
        return true;
      }
      const step = { ArrowDown: 1, ArrowUp: items.length - 1 }[event.key];
      if (step === undefined) return false;
      chosen = (chosen + step) % items.length;
      tell();
      return true;
    },
  };
}
