import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePorts } from '@fernpost/local-stack';
import type { TestContext } from 'vitest';
import { eventually } from '../../tools/local-stack/test/fakes.ts';
import { fetched } from './fetched.ts';
import { aPlace, type Place, type Run, startIn } from './npm-start.ts';

const run = promisify(execFile);
const quiet = ['--no-audit', '--no-fund'];

/** An empty project of npm outside of this one, for apps that get their clients from the service. */
export interface AppProject extends Disposable {
  folder: string;
  baseUrl: string;
  sandboxUrl: string;
  /** A port of this machine that the service may call. */
  webhookPort: number;
  /** Where the service is and with what, for a process of an app. */
  env: { SECRET_KEY: string; [name: string]: string };
  /** Installs the SDK and the command line from the service, and other packages; skips the test where the registry does not answer. */
  install(context: TestContext, packages: readonly string[]): Promise<void>;
  /** Runs a program in the folder to its end. */
  run(
    program: string,
    args: readonly string[],
    env?: Record<string, string>,
  ): Promise<{ stdout: string; stderr: string }>;
}

let service: { place: Place; run: Run } | undefined;

/** Starts the whole service as `npm start` runs it, for the projects of a test file, and waits until it hands out its clients. */
export async function startService(): Promise<void> {
  const place = await aPlace();
  // Scripts that run side by side are one project.
  service = { place, run: startIn(place, { RATE_LIMIT_PER_MINUTE: '0' }) };
  await service.run.untilReady();
  await eventually(async () => (await fetch(`${place.baseUrl}/downloads/`)).ok);
}

/** Stops what `startService` started, and removes its data. */
export async function stopService(): Promise<void> {
  await service?.run[Symbol.asyncDispose]();
  service?.place[Symbol.dispose]();
}

/** Makes a project beside the service that runs. */
export async function anAppProject(): Promise<AppProject> {
  if (service === undefined) throw new Error('no service has been started for the project');
  const { baseUrl, sandboxUrl, dataDir, env: settings } = service.place;
  const [webhookPort = 0] = await freePorts(1);
  const folder = mkdtempSync(join(tmpdir(), 'fernpost-apps-'));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  const file = join(dataDir, 'first-project.json');
  const { secretKey, publicKey } = JSON.parse(readFileSync(file, 'utf8')) as { secretKey: string; publicKey: string };
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    FIRST_PROJECT: file,
    FERNPOST_URL: baseUrl,
    SANDBOX_URL: sandboxUrl,
    SMTP_PORT: settings.SMTP_IN_PORT ?? '',
    WEBHOOK_PORT: String(webhookPort),
    SECRET_KEY: secretKey,
    PUBLIC_KEY: publicKey,
  };
  const ours = ['sdk', 'cli'].map((name) => `${baseUrl}/downloads/${name}.tgz`);
  // Not with `--prefer-offline`: another test may have had another archive at the same address.
  const npmInstall = (urls: readonly string[]) => run('npm', ['install', ...quiet, ...urls], { cwd: folder });
  let installation: Promise<void> | undefined;
  return {
    folder,
    baseUrl,
    sandboxUrl,
    webhookPort,
    env,
    install(context, others) {
      installation ??= npmInstall(ours).then(() =>
        fetched(context, 'npm', ['install', ...quiet, '--prefer-offline', ...others], { cwd: folder }),
      );
      return installation;
    },
    run: (program, args, more = {}) => run(program, [...args], { cwd: folder, env: { ...env, ...more } }),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  };
}
