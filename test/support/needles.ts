/** Where one looks for needles: the name of a file, a dump or a log, and what it says. */
export type Haystack = readonly [place: string, text: string];

/** Texts that were planted, each in a place of its own and found nowhere else. */
export interface Needles {
  /** Makes the text of a place. */
  make(place: string): string;
  /** Takes a text of the caller's. */
  add(place: string, text: string): void;
  /** The places, once each. */
  readonly places: readonly string[];
  /** Every haystack with a needle in it, as `haystack: place of the needle`. Letter case does not hide a needle, nor does base64. */
  found(haystacks: readonly Haystack[]): string[];
}

/** Needles that no other run of a test has. */
export function someNeedles(): Needles {
  const planted = new Map<string, { plain: string; encoded: readonly string[] }>();
  const add = (place: string, text: string) => {
    if (planted.has(place)) throw new Error(`A needle is in ${place} already`);
    planted.set(place, { plain: text.toLowerCase(), encoded: base64Of(text) });
  };
  return {
    add,
    make(place) {
      const text = `Nadel-${place}-${Math.random().toString(36).slice(2, 10)}`;
      add(place, text);
      return text;
    },
    get places() {
      return [...planted.keys()];
    },
    found: (haystacks) =>
      haystacks.flatMap(([name, text]) => {
        const lower = text.toLowerCase();
        return [...planted].flatMap(([place, { plain, encoded }]) =>
          lower.includes(plain) || encoded.some((form) => text.includes(form)) ? [`${name}: ${place}`] : [],
        );
      }),
  };
}

// What base64 makes of a text depends on how many bytes come before it, in three ways; its ends depend on their neighbors as well.
function base64Of(text: string): string[] {
  const bytes = Buffer.from(text);
  return [0, 1, 2].map((before) => {
    const all = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    const whole = Math.floor(((before + bytes.length) * 8) / 6);
    return all.slice(Math.ceil((before * 8) / 6), whole);
  });
}
