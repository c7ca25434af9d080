/** An email address, which breaks before its @ where it has to break at all. */
export function Address({ children }: { children: string }) {
  const at = children.lastIndexOf('@');
  if (at < 1) return <span className="break">{children}</span>;
  return (
    <span className="break">
      {children.slice(0, at)}
      <wbr />
      {children.slice(at)}
    </span>
  );
}

/** A text in which an address breaks only where it is longer than the line by itself; at its hyphens browsers would break it anywhere. */
export function WithAddresses({ children }: { children: string }) {
  return children.split(/(\s+)/).map((word, place) =>
    word.includes('@') ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: words have nothing else to tell them apart
      <span key={place} className="inline-block max-w-full">
        {word}
      </span>
    ) : (
      word
    ),
  );
}
