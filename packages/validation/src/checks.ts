import * as v from 'valibot';

// valibot has no place for a code of our own on a check; the predicate itself is the key.
const predicateCodes = new WeakMap<object, string>();

/** A check whose failure is reported with this code in place of `custom`. */
export function coded<Input>(code: string, predicate: (input: Input) => boolean, message: string) {
  const own = (input: Input) => predicate(input);
  predicateCodes.set(own, code);
  return v.check(own, message);
}

/** `coded` for a rule that spans fields: reported at the given key of the object. */
export function codedAt<Input extends object>(
  code: string,
  key: string,
  predicate: (input: Input) => boolean,
  message: string,
) {
  return v.rawCheck<Input>(({ dataset, addIssue }) => {
    if (dataset.typed && !predicate(dataset.value))
      addIssue({
        message: `${code}\u0000${message}`,
        path: [
          { type: 'object', origin: 'value', input: dataset.value as Record<string, unknown>, key, value: undefined },
        ],
      });
  });
}

/** The code that `coded` gave to the check behind an issue, if it was one. */
export function ownCode({ requirement }: v.BaseIssue<unknown>): string | undefined {
  return typeof requirement === 'function' ? predicateCodes.get(requirement) : undefined;
}
