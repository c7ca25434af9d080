import { workflowBundle } from './worker/workflow-bundle.ts';

// `npm run build`: workers find the bundle of the workflows ready. Does nothing when it is up to date.
await workflowBundle();
