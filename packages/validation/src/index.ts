export { coded, codedAt } from './checks.ts';
export {
  domainOf,
  EmailField,
  isEmail,
  localPartOf,
  normalizeEmail,
  parseSender,
  SenderField,
  withBareSender,
} from './email-address.ts';
export {
  choice,
  GivenInstant,
  GivenUuid,
  Instant,
  JsonObject,
  NullableInstant,
  parameter,
  singleLine,
  textField,
  Uuid,
  wholeNumber,
} from './fields.ts';
export {
  choiceParameter,
  dayParameter,
  directionParameter,
  limitParameter,
  numberParameter,
  pageParameters,
} from './parameters.ts';
export { type FieldProblem, fieldProblems, jsonType } from './problems.ts';
export { sentenceOf } from './sentence.ts';
