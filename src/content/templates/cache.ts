import { type Changes, createCache } from '../../core/database/changes.ts';
import type { Database } from '../../core/database/sql.ts';
import { findTemplate, type TemplateRow } from './queries.ts';

/** Templates kept in memory for requests that send by them; right across processes (see `src/core/database/changes.ts`). */
export interface TemplateCache {
  /** The template of the project, or null. */
  find(projectId: string, templateId: string): Promise<TemplateRow | null>;
}

declare module '../../core/http/context.ts' {
  interface App {
    templates: TemplateCache;
  }
}

const mostTemplates = 1_000;

/** A cache over a database whose changes are heard. */
export function createTemplateCache(db: Database, changes: Changes): TemplateCache {
  const templates = createCache<TemplateRow>(changes, ['templates'], mostTemplates);
  return {
    find: (projectId, templateId) =>
      templates.get(`${projectId}/${templateId}`, async () => {
        const value = await findTemplate(db, projectId, templateId);
        return value && { projectId, value };
      }),
  };
}
