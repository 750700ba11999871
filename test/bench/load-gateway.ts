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
const access = {
  url: `${env('ADMIN_URL', 'http://127.0.0.1:9090')}/admin`,
  token: readFileSync(env('ADMIN_TOKEN_FILE', '.faregate/admin-token'), 'utf8').trim(),
};
const callers = Number(env('CALLERS', '20'));
const seconds = Number(env('SECONDS', '30'));
/** Of each caller: one agent alone would soon have begun as many calls as it may in a minute. */
const AGENTS = 3;

const agents = await prepareAgents(access, callers * AGENTS);
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
