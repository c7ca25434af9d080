import { compileEmail, plainBrand } from '@fernpost/email-document';
import { useQuery } from '@tanstack/react-query';
import { answer, api } from '../../api/client.ts';
import { useProjectId } from '../../app/address.ts';
import { deployment } from '../../app/deployment.ts';
import type { MailContent } from './content.ts';

/** The brand kit of a project, as a query. */
export function brandQuery(project: string) {
  return { queryKey: ['brand', project], queryFn: () => answer(api.GET('/brand')) };
}

/** The brand kit of the project; the plain one until it is known. */
export function useBrand() {
  const { data } = useQuery(brandQuery(useProjectId()));
  return { ...plainBrand, ...data };
}

/** The HTML that a message is sent as: what was written as blocks is compiled as the service does it. */
export function useSource(): (content: Pick<MailContent, 'body' | 'document'>) => string {
  const brand = useBrand();
  const { data } = useQuery(deployment);
  const icons = data && `${data.urls.api}/brand/icons`;
  return ({ body, document }) => (document === null ? body : compileEmail(document, brand, icons));
}
