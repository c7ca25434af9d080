export { type ContentFinding, checkDocument, checkEmail, gmailClip, linkProblem } from './checks.ts';
export { readableOn } from './color.ts';
export { compileEmail } from './compile.ts';
export { variableText } from './liquid.ts';
export { Brand, EmailDocument, fonts, isVariableName, networks, operators, plainBrand } from './schema.ts';
export { starters } from './starters.ts';
