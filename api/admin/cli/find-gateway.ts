import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { isLoopbackHost } from '#core/loopback.ts';
import type { Secret } from '#core/secret.ts';
import { withoutEndSlashes } from '#core/without-end-slashes.ts';
import { ADMIN_TOKEN_FILE, parseAdminToken } from '../../config/admin-token.ts';
import { ADMIN_URL_FILE } from '../../config/admin-url.ts';
import type { CliEnvironment } from '../../config/cli-environment.ts';
import { unreachable, usageError } from './cli-error.ts';

export interface GatewayAddress {
  /** Ends in `/admin`. */
  url: string;
  token: Secret;
}

export interface GatewayOptions {
  url?: string;
  tokenFile?: string;
}

const demoFile = z.object({ admin_url: z.string(), admin_token: z.string() });

/**
 * What was named, else what the gateway of this machine has written into its data folder. The token from there
 * is never sent to another machine: a mistyped address must not be told it.
 */
export function findGateway(
  options: GatewayOptions,
  { dataDir, internalPort }: CliEnvironment,
): GatewayAddress {
  const demo = readDemo(join(dataDir, 'demo.json'));
  const lastUrl = readIfThere(join(dataDir, ADMIN_URL_FILE))?.trim() || null;
  const url = adminUrl(options.url ?? demo?.admin_url ?? lastUrl ?? `http://127.0.0.1:${internalPort}`);
  if (options.tokenFile !== undefined) return { url, token: readToken(options.tokenFile) };
  if (!isLoopbackHost(new URL(url).hostname.replace(/^\[|\]$/g, ''))) {
    throw usageError(`${url} is another machine: name the file of its admin token with --token-file.`);
  }
  const own = readIfThere(join(dataDir, ADMIN_TOKEN_FILE));
  const token = parseAdminToken(demo?.admin_token ?? own ?? '');
  if (token !== null) return { url, token };
  if (lastUrl !== null) {
    throw usageError(
      `The gateway of ${dataDir} has its admin token from its configuration: name its file with --token-file.`,
    );
  }
  throw unreachable(
    `No gateway has been started in ${dataDir}: start it with "make run", name its folder with ` +
      'FAREGATE_DATA, or name it with --url and --token-file.',
  );
}

function adminUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw usageError(`--url has to be a web address such as http://127.0.0.1:9090/admin, not ${text}.`);
  }
  const url = withoutEndSlashes(text);
  return url.endsWith('/admin') ? url : `${url}/admin`;
}

function readToken(path: string): Secret {
  const text = readIfThere(path);
  if (text === null) throw usageError(`There is no file ${path}.`);
  const token = parseAdminToken(text);
  if (token === null) throw usageError(`${path} holds no admin token.`);
  return token;
}

function readDemo(path: string): z.infer<typeof demoFile> | null {
  const text = readIfThere(path);
  if (text === null) return null;
  try {
    return demoFile.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw usageError(`${path} cannot be read: ${error instanceof Error ? error.message : 'unknown'}.`);
  }
}
