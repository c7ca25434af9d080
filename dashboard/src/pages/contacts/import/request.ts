import { api } from '../../../api/client.ts';
import { toApiError } from '../../../api/errors.ts';
import type { components } from '../../../api/schema.d.ts';
import { type ColumnChoice, mappingOf } from './mapping.ts';

/** A file and what becomes of its columns and contacts. */
export interface ImportRequest {
  file: File;
  choices: readonly ColumnChoice[];
  segmentId?: string;
  segmentName?: string;
}

function options({ file, choices, segmentId, segmentName }: ImportRequest) {
  return {
    // The description of the API has the part `file` as binary text; the browser sends it as a stream.
    body: { file: '' } as never,
    bodySerializer: () => {
      const form = new FormData();
      form.set('mapping', JSON.stringify(mappingOf(choices)));
      if (segmentId) form.set('segmentId', segmentId);
      if (segmentName) form.set('segmentName', segmentName);
      form.set('file', file, file.name.endsWith('.csv') ? file.name : `${file.name}.csv`);
      return form;
    },
  };
}

/** What an import would do. */
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
