import type { OpenApiDocument } from '../../src/http/docs/docs.ts';
import { examplesOf, type Request, requestOf, snake } from '../../src/http/docs/examples.ts';
import { openApiDocument } from '../../src/http/openapi.ts';
import { routes } from '../../src/main/api/routes.ts';

/** An operation as the API reference shows it in three languages. */
export interface ReferenceExample {
  id: string;
  request: Request;
  curl: string;
  ts: string;
  python: string;
  /** What the examples leave to their reader: the variables of the path. */
  variables: readonly { variable: string; isNumber: boolean }[];
}

const document = openApiDocument(routes, 'https://fernpost.test') as unknown as OpenApiDocument;

/** The examples of every operation in the reference. */
export const referenceExamples: readonly ReferenceExample[] = Object.entries(document.paths).flatMap(
  ([path, operations]) =>
    Object.entries(operations)
      .filter(() => document.paths[`/v1${path}`] === undefined)
      .map(([method, found]) => {
        const operation = { ...found, method: method.toUpperCase(), path };
        const [curl = '', ts = '', python = ''] = examplesOf(document, operation).map(({ text }) => text);
        const request = requestOf(document, operation);
        return { id: operation.operationId, request, curl, ts, python, variables: request.variables };
      }),
);

/** Examples as functions of one module, with what the guides set up before. */
export function typeScriptProgram(examples: readonly ReferenceExample[]): string {
  const functions = examples.map(({ id, ts, variables }) => {
    const parameters = variables.map(({ variable, isNumber }) => `${variable}: ${isNumber ? 'number' : 'string'}`);
    return `export async function ${id}(${parameters.join(', ')}) {\n${ts.replaceAll(/^import .*$/gm, '')}\n}`;
  });
  return `import { openAsBlob } from 'node:fs';
import { Fernpost } from '@fernpost/sdk';

const fernpost = new Fernpost({ baseUrl: process.env.FERNPOST_URL!, key: process.env.SECRET_KEY! });
const sessionCookie = '';
void [openAsBlob, sessionCookie];

${functions.join('\n\n')}
`;
}

/** The same in Python. */
export function pythonProgram(examples: readonly ReferenceExample[]): string {
  const functions = examples.map(({ id, python, variables }) => {
    const parameters = variables.map(({ variable, isNumber }) => `${snake(variable)}: ${isNumber ? 'int' : 'str'}`);
    const lines = python.replaceAll(/^(import|from) .*\n/gm, '').replaceAll(/^(?=.)/gm, '    ');
    return `def ${id}(${parameters.join(', ')}) -> None:\n${lines}\n`;
  });
  return `import os

import httpx
from fernpost import Fernpost

fernpost = Fernpost(os.environ["FERNPOST_URL"], key=os.environ["SECRET_KEY"])
session_cookie = ""

${functions.join('\n\n')}
`;
}
