export { type ArrivingFile, type MultipartRules, readMultipart } from './multipart.ts';
export { type RunningServer, type ServerLimits, serve, usualLimits } from './server.ts';
