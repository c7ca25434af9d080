import { openApiDocument } from '../http/openapi.ts';
import { routes } from './api/routes.ts';

// For whoever generates a client, the dashboard among them: the document of /openapi.json without a running service.
process.stdout.write(JSON.stringify(openApiDocument(routes, 'http://localhost:3000')));
