import manifest from '../../../package.json' with { type: 'json' };

/** The version of the SDK, which is that of the service that hands it out. */
export const version: string = manifest.version;
