import { api } from '../../../api/client.ts';
import { toApiError } from '../../../api/errors.ts';
import type { components } from '../../../api/schema.d.ts';
import { type ColumnChoice, mappingOf } from './rules/mapping.ts';

/** A file and what becomes of its columns and contacts. */
export interface ImportRequest {
  file: File;
  choices: readonly ColumnChoice[];
  /** Whether new contacts are subscribed where the file does not say. */
  subscribeNew: boolean;
  /** Where the consent of those whom the import subscribes comes from. */
  consentSource?: string;
  segmentId?: string;
  segmentName?: string;
}

function options({ file, choices, subscribeNew, consentSource, segmentId, segmentName }: ImportRequest) {
  return {
    // The description of the API has the part `file` as binary text; the browser sends it as a stream.
    body: { file: '' } as never,
    bodySerializer: () => {
      const form = new FormData();
      form.set('mapping', JSON.stringify(mappingOf(choices)));
      form.set('subscribeNew', String(subscribeNew));
      if (consentSource) form.set('consentSource', consentSource);
      if (segmentId) form.set('segmentId', segmentId);
      if (segmentName) form.set('segmentName', segmentName);
      form.set('file', file, file.name.endsWith('.csv') ? file.name : `${file.name}.csv`);
      return form;
    },
  };
}

/** The preview of an import. */
export async function previewOf(
  request: ImportRequest,
  signal: AbortSignal,
): Promise<components['schemas']['ImportPreview']> {
  const { data, error, response } = await api.POST('/contacts/import/preview', { ...options(request), signal });
  if (!data) throw toApiError(response.status, error);
  return data;
}

/** Begins an import; answers its job. */
export async function startImport(request: ImportRequest): Promise<string> {
  const { data, error, response } = await api.POST('/contacts/import', options(request));
  if (!data) throw toApiError(response.status, error);
  return data.jobId;
}
