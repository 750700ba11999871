import { peerBars } from './bars.ts';
import { type CpuFigures, ratiosOf } from './cpu-per-call.ts';
import type { StreamFigures } from './open-streams.ts';
import { medianAndSpread, type Verdict } from './report.ts';
import { median } from './statistics.ts';

/** Round by round. Not met either when a call failed, of whichever side: what fails is not what was to be compared. */
export function cheaperVerdict(what: string, peer: CpuFigures, gateway: CpuFigures): Verdict {
  const ratios = ratiosOf(peer, gateway);
  const failed = [peer, gateway].flatMap(({ loads }) => loads).reduce((sum, load) => sum + load.failed, 0);
  return {
    bar: `CPU per ${what}, ${peer.name} / gateway >= ${peerBars.timesCheaper}`,
    measured: `${medianAndSpread(ratios)}, ${failed} failed`,
    met: median(ratios) >= peerBars.timesCheaper && failed === 0,
  };
}

/** Of processes that held all of the streams at the same moment. */
export function smallerVerdict(streams: number, peer: StreamFigures, gateway: StreamFigures): Verdict {
  const whole = [peer, gateway].every(({ openAtOnce, load }) => openAtOnce === streams && load.failed === 0);
  return {
    bar: `memory (RSS) at ${streams} open streams, gateway below ${peer.name}`,
    measured:
      `${gateway.peak.rssMb.toFixed(0)} MB against ${peer.peak.rssMb.toFixed(0)} MB, ` +
      `${gateway.openAtOnce} and ${peer.openAtOnce} open at once, ${gateway.load.failed + peer.load.failed} failed`,
    met: gateway.peak.rssMb < peer.peak.rssMb && whole,
  };
}
