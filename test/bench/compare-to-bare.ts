import { measureCpu, ratiosOf } from './cpu-per-call.ts';
import type { GatewayUnderTest } from './gateway.ts';
import { medianAndSpread } from './report.ts';
import { type PlainRequest, requestSide } from './request-side.ts';
import type { Bench } from './run-part.ts';
import { cpuLine, reportFailures } from './runs.ts';
import { median } from './statistics.ts';

const MADE_BY_NODE = new Set(['date', 'connection', 'keep-alive']);

/** Against a process that answers the same bytes without a thought. */
export async function compareToBare(
  { report, sizes, start, coreUnderTest }: Bench,
  { target }: GatewayUnderTest,
  what: string,
  request: PlainRequest,
  ratioMax: number,
): Promise<void> {
  const { method, paths, headers, body } = request;
  const [path = ''] = paths;
  const [authorization = ''] = target.authorizations;
  const answer = await fetch(`${target.origin}${path}`, {
    method,
    headers: { ...headers, authorization },
    body,
  });
  const head = [...answer.headers].filter(([name]) => !MADE_BY_NODE.has(name)).flat();
  const same = ['--headers', JSON.stringify(head), '--answer', await answer.text()];
  const bare = await start('bare-answer.ts', same, coreUnderTest);
  const bareTarget = { ...target, name: 'bare', pid: bare.pid, origin: `http://127.0.0.1:${bare.port}` };
  const sides = [bareTarget, target].map((side) => requestSide(side, request, sizes));
  const sleep = stayAwake();
  const [ofBare, ofGateway] = await measureCpu(sides, sizes).finally(sleep);
  if (ofBare === undefined || ofGateway === undefined) return;
  report.heading(`CPU per ${what}, ${sizes.rounds} rounds of ${sizes.sliceMs} ms`);
  for (const each of [ofBare, ofGateway]) {
    report.line(cpuLine(each));
    reportFailures(report, each.name, each.loads);
  }
  const ratios = ratiosOf(ofGateway, ofBare);
  const failed = [ofBare, ofGateway]
    .flatMap(({ loads }) => loads)
    .reduce((sum, { failed }) => sum + failed, 0);
  report.verdict({
    bar: `CPU per ${what} <= ${ratioMax} x bare node:http`,
    measured: `${medianAndSpread(ratios)} x, ${failed} failed`,
    met: median(ratios) <= ratioMax && failed === 0,
  });
}

/**
 * The load polls: who writes to a sleeper on another core of a virtual machine pays for waking it, by an interrupt through
 * the hypervisor that costs up to several answers, and the slower of two servers finds it asleep more often.
 */
function stayAwake(): () => void {
  let next = setImmediate(function poll() {
    next = setImmediate(poll);
  });
  return () => clearImmediate(next);
}
