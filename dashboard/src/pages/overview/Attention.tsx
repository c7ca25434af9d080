import { useQuery } from '@tanstack/react-query';
import { answer, api } from '../../api/client.ts';
import { Note } from '../../ui/States.tsx';

/** What needs somebody: bounce and complaint rates that endanger the project. Nothing when all is well. */
export function Attention({ project }: { project: string }) {
  const { data } = useQuery({
    queryKey: ['security', project],
    queryFn: () => answer(api.GET('/projects/{id}/security', { params: { path: { id: project } } })),
  });
  const status = data?.data.status;
  if (!status || (status.violations.length === 0 && status.warnings.length === 0)) return null;
  return (
    <Note tone={status.violations.length > 0 ? 'bad' : 'warn'}>
      <p>
        {status.violations.length > 0
          ? 'Sending is at risk: too many emails bounce or are reported as spam.'
          : 'Bounce or complaint rates are rising.'}
      </p>
      <ul>
        {[...status.violations, ...status.warnings].map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
    </Note>
  );
}
