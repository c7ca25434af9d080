export {
  type ContentFinding,
  checkDocument,
  checkEmail,
  gmailClip,
  type KnownVariable,
  linkProblem,
  shareOf,
} from './checks.ts';
export { compileEmail } from './compile.ts';
export { readableOn, variableText } from './liquid.ts';
export { Brand, EmailDocument, fonts, isVariableName, networks, operators, plainBrand } from './schema.ts';
