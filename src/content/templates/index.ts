// What other parts of the service may use of templates; everything else in this folder is its own.
export { iconsUrlOf } from '../brand/index.ts';
export type { TemplateCache } from './cache.ts';
export { contentColumns, Template } from './entity.ts';
export { findTemplate, type TemplateRow, type TemplateType } from './queries.ts';
export { assignContent, copiedContent, newContent } from './saved-content.ts';
export { BodySource, contentEntries, givenContentEntries, SubjectSource, TypeField, templateTypes } from './schema.ts';
export { type ContentDeps, checkSender, checkSources, type SenderDomains, withinLimits } from './service.ts';
export { DocumentSource, needsContent, storedContent } from './source.ts';
export {
  contentVersion,
  contentVersions,
  forgetVersions,
  keepFirstVersion,
  keepVersion,
  restoreAbout,
  restoredContent,
  VersionBody,
  VersionWithContent,
  versionsAbout,
} from './versions.ts';
