import type { paths } from '../../api/schema.d.ts';

/** A segment as the API answers it. */
export type Segment = paths['/segments/{id}']['get']['responses'][200]['content']['application/json'];

/** How the kinds of segments are called. */
export const typeNames: Record<Segment['type'], string> = {
  DYNAMIC: 'Dynamic',
  STATIC: 'Static',
};
