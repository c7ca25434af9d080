import { type CompileOptions, type Condition, ConditionFault, compileCondition } from '@fernpost/conditions';
import { compiled, type Query } from '../../core/database/sql.ts';
import { badRequest } from '../../core/lib/errors.ts';

/** A condition as part of a query: see `compileCondition` of the package. @throws a 400 for one that is too large */
export function conditionQuery(condition: Condition, options: CompileOptions): Query {
  const { text, values } = refusing(() => compileCondition(condition, options));
  return compiled(text, values);
}

/** Does work with the package. @throws a 400 for what the package finds at fault, with the place in `details.path` */
export function refusing<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    return refused(error);
  }
}

/** What `refusing` throws, for work that is awaited. */
export function refused(error: unknown): never {
  throw error instanceof ConditionFault ? badRequest(error.message, { path: error.path }) : error;
}
