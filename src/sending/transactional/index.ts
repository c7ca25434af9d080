// What other parts of the service may use of transactional mail; everything else in this folder is its own.
export { SendBody } from './schema.ts';
export { acceptSend, type SendDeps } from './service.ts';
