export { createSandbox, type Sandbox, type SandboxOptions } from './server.ts';
