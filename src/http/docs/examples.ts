import { type Code, type OpenApiDocument, type Response, resolve } from './document.ts';
import { pythonOf } from './examples/python.ts';
import { curlOf, type Placed, requestOf } from './examples/request.ts';
import { methodOf, typeScriptOf } from './examples/typescript.ts';

export { type Request, requestOf, snake } from './examples/request.ts';

/** An operation in curl, TypeScript and Python, with the example of its body. */
export function examplesOf(document: OpenApiDocument, operation: Placed): Code[] {
  const request = requestOf(document, operation);
  const [, success] = Object.entries(operation.responses).find(([status]) => /^2/.test(status)) ?? [];
  const hasValue = success !== undefined && resolve<Response>(document, success).part.content !== undefined;
  const isList = methodOf(operation.operationId)?.method.list === true;
  const returns = isList ? 'page' : hasValue ? 'result' : null;
  return [
    { language: 'sh', text: curlOf(request) },
    { language: 'ts', text: typeScriptOf(request, returns) },
    { language: 'python', text: pythonOf(request, returns) },
  ];
}
