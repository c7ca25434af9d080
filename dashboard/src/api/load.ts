import { reportUnreachable, untilReachable } from './signals.ts';

/**
 * Loads a part of the dashboard that is not there from the start, and waits for the service's return while it is away.
 * @throws what the browser says where the service is there and the part is not, because a later version has been started
 */
export async function loaded<Module>(load: () => Promise<Module>): Promise<Module> {
  for (;;) {
    try {
      return await load();
    } catch (error) {
      const isThere = await fetch('/health', { cache: 'no-store' }).then(
        (response) => response.ok,
        () => false,
      );
      if (isThere) throw error;
      reportUnreachable();
      await untilReachable();
    }
  }
}
