import { type Query, sql } from '../../core/database/sql.ts';

/** What a message was sent by, or that it was received. */
export const mailSources = ['TRANSACTIONAL', 'CAMPAIGN', 'WORKFLOW', 'INBOUND'] as const;

/** Which mail of a project. */
interface MailRange {
  projectId: string;
  sources: readonly string[];
  /** A condition on the ids, by the alias `e`. */
  within: Query;
  limit: number;
}

/**
 * The newest mail of a project, at most `limit` of each source, for a caller that orders it by id and takes `limit` rows of it: the index
 * `emails_project` has the source before the id, and Postgres merges its ranges only where each has an order and an end of its own.
 * @param columns of the table `emails`, by the alias `e`, with its id
 */
export function newestMail(columns: Query, { projectId, sources, within, limit }: MailRange): Query {
  return sources
    .map(
      (source) => sql`(select ${columns} from emails e
        where e.project_id = ${projectId} and e.source_type = ${source} and ${within} order by e.id desc limit ${limit})`,
    )
    .reduce((all, one) => sql`${all} union all ${one}`);
}
