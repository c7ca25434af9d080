import { readFileSync } from 'node:fs';
import * as sdk from '@fernpost/sdk';
import uses from './uses.cjs';

console.log(JSON.stringify(await uses(sdk, JSON.parse(readFileSync('input.json', 'utf8')))));
