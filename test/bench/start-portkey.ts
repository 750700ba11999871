import { fileURLToPath } from 'node:url';
import { freePort } from '../services/free-port.ts';
import type { Target } from './call.ts';
import { startChild } from './child.ts';
import { untilReady } from './until-ready.ts';

export interface Portkey {
  target: Target;
  stop(): Promise<void>;
}

const LOOPBACK_ONLY = fileURLToPath(new URL('peers/loopback-only.mjs', import.meta.url));

/** As it is shipped, by the Node that runs our gateway, but without its console and its log of calls. */
export async function startPortkey(
  entry: string,
  { upstream, core }: { upstream: string; core: number | null },
): Promise<Portkey> {
  const port = await freePort();
  const args = ['--import', LOOPBACK_ONLY, entry, '--headless', `--port=${port}`];
  const child = startChild(args, {
    core,
    env: { NODE_ENV: 'production', TRUSTED_CUSTOM_HOSTS: '127.0.0.1' },
  });
  const origin = `http://127.0.0.1:${port}`;
  try {
    await untilReady(child, origin);
  } catch (error) {
    await child.stop();
    throw error;
  }
  return {
    target: {
      name: 'portkey',
      pid: child.pid,
      origin,
      path: '/v1/chat/completions',
      authorizations: ['Bearer bench'],
      showsNanoUsd: false,
      headers: { 'x-portkey-provider': 'openai', 'x-portkey-custom-host': `${upstream}/api/v1` },
    },
    stop: child.stop,
  };
}
