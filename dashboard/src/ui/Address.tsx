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
