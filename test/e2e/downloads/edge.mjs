// Bundled for an edge runtime, which has neither files nor packages.
import * as sdk from '@fernpost/sdk';
import uses from './uses.cjs';

export const run = (input) => uses(sdk, input);
