import { useRef } from 'react';
import { inputClass } from '../ui/Field.tsx';

/** Classes of one control in the line of a filter. */
export function partClass(width = 'flex-[1_1_9rem]'): string {
  return `${inputClass} w-auto! min-w-0 max-w-72 ${width}`;
}

/** Moves the focus to a part that is drawn next: a new part takes it, a removed one passes it on. */
export interface FocusMove {
  /** The part of that key takes the focus once it is drawn. */
  goTo: (key: string | undefined) => void;
  /** Takes the focus for the part of that key. */
  landing: (key: string) => (control: HTMLElement | null) => void;
}

/** Keeps where the focus goes next. */
export function useFocusMove(): FocusMove {
  const wanted = useRef<string | undefined>(undefined);
  return {
    goTo: (key) => {
      wanted.current = key;
    },
    landing: (key) => (control) => {
      if (control === null || wanted.current !== key) return;
      wanted.current = undefined;
      control.focus();
    },
  };
}
