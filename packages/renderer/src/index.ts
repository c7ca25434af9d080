export { type Markup, readMarkup } from './markup.ts';
export { TemplateSyntaxError, TemplateTooLargeError } from './nodes.ts';
export { type ParsedTemplate, parseTemplate, prepareTemplate, type TemplateOptions } from './parse.ts';
export { slotName } from './printing.ts';
export { type Rendered, render, renderFully, renderSubject, subjectLine } from './render.ts';
export { RenderLimitError, renderLimits, StepLimitError } from './run.ts';
export { cutSource, type Piece, parseLimits } from './source.ts';
export { type Substitution, substitute } from './substitute.ts';
export { htmlToText } from './text-layout.ts';
export { layOutParts } from './text-layout-parts.ts';
export { deriveText, renderMarkedText, renderText, type TextTemplate } from './text-part.ts';
export { escapeHtml, Filled, type FilledPart, Literal } from './values.ts';
export {
  buildVariables,
  isTransient,
  namesIn,
  plainName,
  type RecipientUrls,
  type TemplateContact,
  type VariableSources,
  type Variables,
  withSimilarFields,
} from './variables.ts';
