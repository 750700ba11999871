import { type Clock, DAY_MS, startOfDayMs } from '#core/clock.ts';
import { hourOf } from '#core/files/file-name.ts';
import { createIdSource } from '#core/ids.ts';
import type { Command, Reserve } from '#core/ledger/command.ts';
import type { Ledger } from '#core/ledger/ledger.ts';
import { FACTOR_ONE_PPM, nanoToAtto } from '#core/money.ts';
import { VIDEO_ORDER_KEPT_MS, VIDEO_TIME_LIMIT_MS } from '../../api/media/order-video.ts';

/** As many as an agent may have in the making. */
const VIDEOS_OF_AN_AGENT = 20;
const HOLD_NANO_USD = 250_000_000n;

/** Open videos that their provider works on, each as its order, its claim and its submission leave it. */
export async function takenVideos(
  ledger: Pick<Ledger, 'execute'>,
  clock: Clock,
  count: number,
): Promise<void> {
  const ids = createIdSource(clock);
  const does = async (command: Command): Promise<void> => {
    const { result } = await ledger.execute(command);
    if (!result.ok) throw new Error(`The bench's own ${command.type}: ${result.reason}`);
  };
  for (let n = 0; n < count; n++) {
    const agentId = 1 + Math.floor(n / VIDEOS_OF_AN_AGENT);
    if (n % VIDEOS_OF_AN_AGENT === 0) await addAgent(does, agentId, clock.now());
    const callId = ids.next();
    const nonce = `worker-${n}`;
    await does(order({ agentId, callId, nowMs: clock.now(), number: n }));
    await does({ type: 'claim_video', agentId, callId, nonce });
    await does({ type: 'submit_video', agentId, callId, nonce, providerJobId: `job-${n}` });
  }
}

async function addAgent(
  does: (command: Command) => Promise<void>,
  agentId: number,
  nowMs: number,
): Promise<void> {
  const name = `bench ${agentId}`;
  await does({
    type: 'set_agent',
    agentId,
    mode: 'create',
    source: 'operator',
    sourceVersion: 1,
    status: 'active',
    name,
    token: null,
  });
  await does({
    type: 'put_key',
    readVersion: null,
    agentId,
    keyId: agentId,
    label: name,
    prefix: name,
    hash: name,
    limit: null,
    actingKeyId: null,
    madeOverMcp: false,
    limits: { activeKeys: 1, mcpKeysPerDay: 0 },
  });
  await does({
    type: 'grant',
    agentId,
    grantId: name,
    nanoUsd: BigInt(VIDEOS_OF_AN_AGENT) * HOLD_NANO_USD,
    expiresAtMs: startOfDayMs(nowMs) + 8 * DAY_MS,
  });
}

interface Ordered {
  agentId: number;
  callId: number;
  nowMs: number;
  number: number;
}

function order({ agentId, callId, nowMs, number }: Ordered): Reserve {
  const videoId = `vid_${String(number).padStart(20, '0')}`;
  return {
    type: 'reserve',
    kind: 'video',
    agentId,
    keyId: agentId,
    callId,
    nonce: 'bench',
    nanoUsd: HOLD_NANO_USD,
    timeLimitMs: VIDEO_TIME_LIMIT_MS,
    callerNowMs: nowMs,
    call: { model: 'bench/film', modelName: 'Bench Film', endpoint: 'videos', stream: false },
    price: {
      providerId: 'router',
      promptAtto: '0',
      completionAtto: '0',
      cacheReadAtto: '0',
      requestAtto: String(nanoToAtto(HOLD_NANO_USD)),
      factorPpm: String(FACTOR_ONE_PPM),
      promptEstimateTokens: 0,
    },
    video: {
      videoId,
      idempotencyKey: null,
      upstreamModel: 'film',
      orderFile: `orders/${hourOf(nowMs + VIDEO_ORDER_KEPT_MS)}/${agentId}/${videoId}.json`,
      openVideosMax: VIDEOS_OF_AN_AGENT,
    },
    limits: { callsPerMinute: 60_000, burst: 60_000, runningCalls: 1, dailyShareNanoUsd: null },
  };
}
