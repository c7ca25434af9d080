/** Seconds for a setting of programs that tests start: a busy machine may take more than the usual five over a connection. */
export const patientPool = { DATABASE_POOL_TIMEOUT: '120' };

/**
 * What a program of the service that a test starts has of the environment of the tests: no settings, but the folder of what has been
 * compiled before, without which each start takes half as much processor time again. It waits long for a connection.
 */
export function programEnv(): NodeJS.ProcessEnv {
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
  return { PATH, HOME, NODE_COMPILE_CACHE, ...patientPool };
}
