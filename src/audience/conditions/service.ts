import * as conditions from '@posthorn/conditions';
import { compiled, type Query } from '../../core/database/sql.ts';
import { badRequest } from '../../core/lib/errors.ts';

/** `parseCondition` of the package. @throws a 400 that names the place in `details.path` */
export function parseCondition(input: unknown): conditions.Condition {
  return answered(() => conditions.parseCondition(input));
}

/** `checkSegmentReferences` of the package. @throws a 400 that names the filter in `details.path` */
export function checkSegmentReferences(
  condition: conditions.Condition,
  segments: conditions.SegmentMap,
  selfId?: string,
): void {
  answered(() => conditions.checkSegmentReferences(condition, segments, selfId));
}

/** `refuseOvergrowth` of the package. @throws a 400 */
export function refuseOvergrowth(condition: conditions.Condition, segments: conditions.SegmentMap): void {
  answered(() => conditions.refuseOvergrowth(condition, segments));
}

/** `resolveSegments` of the package. @throws a 400 for a stored condition that cannot be read */
export function resolveSegments(
  condition: conditions.Condition,
  lookup: (ids: string[]) => Promise<conditions.StoredSegment[]>,
): Promise<conditions.SegmentMap> {
  return conditions.resolveSegments(condition, lookup).catch(refused);
}

/** A condition as part of a query: see `compileCondition` of the package. @throws a 400 for one that is too large */
export function compileCondition(condition: conditions.Condition, options: conditions.CompileOptions): Query {
  const { text, values } = answered(() => conditions.compileCondition(condition, options));
  return compiled(text, values);
}

function answered<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    return refused(error);
  }
}

function refused(error: unknown): never {
  throw error instanceof conditions.ConditionFault ? badRequest(error.message, { path: error.path }) : error;
}
