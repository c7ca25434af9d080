import { Note } from '../../../ui/States.tsx';
import { fieldSentence, firstOfEach } from '../../../words/sentences.ts';
import type { Editing } from '../designer/editing.ts';
import { putGraph } from '../workflow.ts';

type Migrate = Parameters<typeof putGraph>[3]['migrate'];

/** The consequences of a publication. */
export type PublishPreview = Extract<Awaited<ReturnType<typeof putGraph>>, { dryRun: true }>;

/** Queries the consequences of publishing the edit without publishing it. `key` separates the plans of a dialog. */
export function dryRunQuery(
  project: string,
  workflow: string,
  editing: Editing | undefined,
  migrate: Migrate,
  key: unknown,
) {
  return {
    queryKey: ['workflows', project, workflow, 'dry run', editing?.revision, editing?.graph, key],
    staleTime: 0,
    gcTime: 0,
    retry: false,
    queryFn: async () => {
      if (editing === undefined) throw new Error('There is no edit to preview');
      const result = await putGraph(workflow, editing.revision, editing.graph, { dryRun: true, migrate });
      if (!result.dryRun) throw new Error('The service has published where it was only asked');
      return result;
    },
  };
}

/** Shows the problems of an edit; `title` says what to do about them. */
export function Issues({
  tone,
  title,
  issues,
}: {
  tone: 'bad' | 'warn';
  title: string;
  issues: PublishPreview['issues'];
}) {
  return (
    <Note tone={tone}>
      <p>{title}</p>
      <ul>
        {firstOfEach(issues).map(({ stepId, field, message }) => (
          <li key={`${stepId} ${field} ${message}`} className="break">
            {fieldSentence({ field, message })}
          </li>
        ))}
      </ul>
    </Note>
  );
}
