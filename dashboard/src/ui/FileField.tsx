import type { InputHTMLAttributes } from 'react';
import { buttonClass } from './Button.tsx';
import { Field } from './Field.tsx';

/**
 * A file from the computer. `chosen` is the name of the one that was chosen. The browser's own field lies unseen over what is drawn,
 * so that it takes the focus, clicks and files that are dropped, and its texts in the browser's language are not read.
 */
export function FileField({
  label,
  chosen,
  onFile,
  ...rest
}: {
  label: string;
  chosen?: string | undefined;
  onFile: (file: File) => void;
} & Pick<InputHTMLAttributes<HTMLInputElement>, 'accept' | 'disabled'>) {
  return (
    <Field label={label}>
      {(props) => (
        <div className="relative flex items-center gap-3 rounded-md has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-(--focus)">
          <span aria-hidden className={buttonClass()}>
            Choose file
          </span>
          <span className="break text-muted" dir="auto" id={`${props.id}-chosen`}>
            {chosen ?? 'No file chosen'}
          </span>
          <input
            {...rest}
            {...props}
            type="file"
            className="absolute inset-0 cursor-pointer opacity-0"
            aria-describedby={`${props.id}-chosen`}
            onChange={({ target }) => {
              const [file] = target.files ?? [];
              // The same file may be chosen again after it was fixed.
              target.value = '';
              if (file) onFile(file);
            }}
          />
        </div>
      )}
    </Field>
  );
}
