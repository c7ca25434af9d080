import type { components } from '../../api/schema.d.ts';

/** A segment as the API answers it. */
export type Segment = components['schemas']['Segment'];

/** How the kinds of segments are called. */
export const segmentTypeNames: Record<Segment['type'], string> = {
  DYNAMIC: 'Dynamic',
  STATIC: 'Static',
};
