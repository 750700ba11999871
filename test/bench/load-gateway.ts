import { readFileSync } from 'node:fs';
import { Pool } from 'undici';
import { formatUsd } from '#core/money.ts';
import { callBody } from './call.ts';
import { runLoad } from './load.ts';
import { prepareAgents } from './prepare-agents.ts';

/*
 * `make load`: streamed calls of many agents against a gateway that runs anywhere, for watching it at work. It measures
 * nothing: that is `make bench`.
 */
const env = (name: string, fallback: string): string => process.env[name] || fallback;
const url = env('URL', 'http://127.0.0.1:8080');
const adminUrl = `${env('ADMIN_URL', 'http://127.0.0.1:9090')}/admin`;
const tokenFile = env('ADMIN_TOKEN_FILE', '.faregate/admin-token');
const callers = Number(env('CALLERS', '20'));
const seconds = Number(env('SECONDS', '30'));
/** Of each caller: one agent alone would soon have begun as many calls as it may in a minute. */
const AGENTS = 3;

const agents = await prepare().catch((error: Error) => {
  console.error(
    `No agents could be made at ${adminUrl} (ADMIN_URL) by ${tokenFile} (ADMIN_TOKEN_FILE): ${whyOf(error)}`,
  );
  process.exit(1);
});
const pool = new Pool(url, { connections: callers });
const target = {
  name: 'gateway',
  pid: 0,
  origin: url,
  path: '/v1/chat/completions',
  authorizations: agents.map(({ key }) => `Bearer ${key}`),
  showsNanoUsd: true,
};
const body = callBody(env('MODEL', 'faregate-sim/small'), true);
const { calls, failed, failures, shownNanoUsd, elapsedMs } = await runLoad(pool, target, body, {
  callers,
  durationMs: seconds * 1_000,
});
await pool.close();
console.log(
  `${calls} calls in ${(elapsedMs / 1_000).toFixed(1)} s, ${failed} failed, $${formatUsd(shownNanoUsd)} paid` +
    [...failures].map(([status, count]) => `, ${count} answered ${status}`).join(''),
);
process.exitCode = failed > 0 ? 1 : 0;

async function prepare() {
  const token = readFileSync(tokenFile, 'utf8').trim();
  // Whatever cannot be sent would be quoted by who refuses to send it.
  if (!/^[!-~]+$/.test(token)) throw new Error('that file holds no token');
  return prepareAgents({ url: adminUrl, token }, callers * AGENTS);
}

/** All that `fetch` says is that it failed. */
function whyOf({ message, cause }: Error): string {
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
}
