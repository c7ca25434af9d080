import { expect, test } from 'vitest';
import { operationId } from '../../../src/http/openapi/operation.ts';

test.each([
  ['GET', '/contacts', 'listContacts'],
  ['GET', '/contacts/:id', 'getContact'],
  ['POST', '/contacts', 'createContact'],
  ['PATCH', '/contacts/:id', 'updateContact'],
  ['PUT', '/brand', 'updateBrand'],
  ['DELETE', '/companies/:id', 'deleteCompany'],
  ['POST', '/campaigns/:id/pause', 'pauseCampaign'],
  ['GET', '/campaigns/:id/recipients', 'listCampaignRecipients'],
  ['GET', '/campaigns/:id/stats', 'getCampaignStats'],
  ['POST', '/webhooks/:id/rotate-secret', 'rotateWebhookSecret'],
  ['PATCH', '/workflows/:id/steps/:stepId', 'updateWorkflowStep'],
  ['GET', '/openapi.json', 'getOpenapiJson'],
] as const)('%s %s is %s', (method, path, id) => {
  expect(operationId(method, path)).toBe(id);
});
