import { inputClass } from '../ui/Field.tsx';

/** Classes of one control in the line of a filter. */
export function partClass(width = 'flex-[1_1_9rem]'): string {
  return `${inputClass} w-auto! min-w-0 max-w-72 ${width}`;
}
