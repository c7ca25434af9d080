/**
 * The part of a segment's event names that comes from its name (docs/contract/core.md#4-2): `VIP Users!` is `vip-users`.
 * A name of which nothing is left gives the segment's id.
 */
export function segmentSlug(segment: { id: string; name: string }): string {
  const slug = segment.name
    .toLowerCase()
    .trim()
    .replaceAll(/[^a-z0-9_\-\s]/g, '')
    .replaceAll(/\s+/g, '-')
    .replaceAll(/-+/g, '-')
    .replaceAll(/^-|-$/g, '');
  return slug === '' ? segment.id : slug;
}

/** The event of contacts that enter or leave a segment (docs/contract/core.md#4-2). */
export function memberEvent(segment: { id: string; name: string }, kind: 'entry' | 'exit') {
  const data = { segmentId: segment.id, segmentName: segment.name };
  return { name: `segment.${segmentSlug(segment)}.${kind}`, data };
}
