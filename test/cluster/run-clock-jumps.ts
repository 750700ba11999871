import { setTimeout as sleep } from 'node:timers/promises';
import { Agent } from 'undici';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { parseNanoUsd } from '#core/money.ts';
import { CLOCK_PROVEN_MS } from '#core/trusted-clock.ts';
import { runFaregate } from '../backup/run-cli.ts';
import { createDraw } from '../ledger/history/random.ts';
import { MODEL, until } from '../support/gateway.ts';
import type { ApiProcess } from './api-process.ts';
import { askChat } from './ask-chat.ts';
import { CallLoad, type LoadAgent } from './call-load.ts';
import { ClusterClocks, type Jump, jumps, type Owner } from './cluster-clocks.ts';
import type { FaultCluster } from './fault-cluster.ts';
import { untilMoneyIsRight } from './find-problems.ts';

/** One wrong clock, and what became of it. */
export interface JumpRound {
  jump: Jump;
  owner: Owner;
  when: When;
  /** Of the load's calls while the clock was wrong. */
  served: number;
  refused: number;
  /** What `/readyz` of each API process that refused calls said. */
  readyz: string;
  /** From the right clock until each process served each agent, with the minutes that were moved on. */
  servedAfterMs: number;
  /** What the operator had to do for it. */
  remedy: 'nothing' | 'clock repair';
  calls: number;
  chargedNanoUsd: bigint;
}

/** `believed`: while it runs, until the stores' clocks have confirmed it. */
export type When = 'running' | 'at start' | 'believed';

/** The word in `readyz` of a round in which every call was served. */
const ALL_SERVE = '200';
const AGENTS = 4;
const LOAD_MS = 1_500;
/** Each process must say within this time why it refuses calls. */
const SAID_WITHIN_MS = 30_000;
const SERVED_WITHIN_MS = 60_000;
const BY_ITSELF_MS = 3_000;
/** More than a process takes to follow a clock that stepped back. */
const FOLLOWED_MIN = 6;
const FOLLOWS = 'This process follows the clock of its machine in';
const GIVE_UP_MS = 15_000;

/** Jumps of clocks one after another on one cluster: each is set right, and all money compared, before the next. */
export class ClockRun {
  readonly clocks: ClusterClocks;
  readonly rounds: JumpRound[] = [];
  readonly #cluster: FaultCluster;
  readonly #agents: readonly LoadAgent[];
  readonly #load: CallLoad;
  readonly #dispatcher = new Agent({ connections: null });

  static async open(cluster: FaultCluster, seed: number): Promise<ClockRun> {
    const agents: LoadAgent[] = [];
    // Longer than any jump, so that the credit lives where the wrong time is believed, too.
    while (agents.length < AGENTS) {
      agents.push(await cluster.newAgent(parseNanoUsd('100') ?? 0n, { endsInDays: 8 }));
    }
    return new ClockRun(cluster, agents, seed);
  }

  private constructor(cluster: FaultCluster, agents: readonly LoadAgent[], seed: number) {
    const { baseUrls, provider } = cluster;
    this.#cluster = cluster;
    this.#agents = agents;
    this.clocks = new ClusterClocks(cluster);
    this.#load = new CallLoad({ baseUrls, agents, provider, draw: createDraw(seed) });
  }

  async jump(jump: Jump, owner: Owner, when: When): Promise<JumpRound> {
    const { charges } = this.#cluster.book;
    const before = { calls: charges.size, nanoUsd: sum(charges.values()) };
    this.clocks.set(owner, jumps[jump]);
    if (when === 'at start') await this.#restart(owner);
    const readyz = await this.#untilExplained();
    const counts = await this.#twoMinutesOfLoad(when, readyz === ALL_SERVE);
    this.clocks.setRight();
    const { servedAfterMs, remedy } = await this.#untilServed(when);
    await untilMoneyIsRight(this.#cluster, this.#agents, this.#load, { withinMs: SERVED_WITHIN_MS });
    const round: JumpRound = {
      ...{ jump, owner, when, readyz, servedAfterMs, remedy },
      served: counts.shown + counts.hungUp,
      refused: counts.unavailable,
      calls: charges.size - before.calls,
      chargedNanoUsd: sum(charges.values()) - before.nanoUsd,
    };
    this.rounds.push(round);
    return round;
  }

  /** Of a call of this agent by each process. */
  async statuses(agent: LoadAgent): Promise<number[]> {
    return Promise.all(this.#cluster.apis.map((_, api) => this.#ask(agent, api)));
  }

  /** Runs the command of the operator, whose clock is right. */
  async faregate(...args: string[]): Promise<{ code: number | null; out: string; err: string }> {
    return this.#runCommand(this.clocks.operatorEnv, args);
  }

  #runCommand(clock: Record<string, string>, args: readonly string[]) {
    const { configFile, folder } = this.#cluster;
    return runFaregate(args, { dataDir: folder, env: { ...clock, FAREGATE_CONFIG: configFile } });
  }

  /** As the page for operators says: the command, then new API processes, whose ids begin at the present time. */
  async repair(): Promise<void> {
    const run = await this.faregate('clock', 'repair', '--yes');
    if (run.code !== 0) throw new Error(`clock repair ended with ${run.code}: ${run.out} ${run.err}`);
    await this.#startApis(this.#cluster.apis);
  }

  async close(): Promise<void> {
    await this.#load.close();
    await this.#dispatcher.destroy();
  }

  async #twoMinutesOfLoad(when: When, isServed: boolean) {
    const counts = await this.#someLoad(isServed);
    const minutes = when === 'believed' ? 2 + CLOCK_PROVEN_MS / MINUTE_MS : 2;
    for (let minute = 0; minute < minutes; minute++) {
      this.clocks.moveOn(MINUTE_MS);
      // Each process has to hear of Redis' clock again before the next minute.
      await sleep(SECOND_MS);
    }
    // A minute that is over at once ends the leases of shards, which on a busy machine are taken again a little later.
    const later = await this.#someLoad(isServed && (await this.#isServedWithin(SERVED_WITHIN_MS)));
    return {
      shown: counts.shown + later.shown,
      hungUp: counts.hungUp + later.hungUp,
      unavailable: counts.unavailable + later.unavailable,
    };
  }

  /** The load lasts until each process has served each agent, or for a fixed time where calls are refused. */
  async #someLoad(isServed: boolean) {
    this.#load.start();
    await (isServed ? this.#load.untilServed(SERVED_WITHIN_MS) : sleep(LOAD_MS));
    return this.#load.stop();
  }

  /** Every process serves calls, or its `/readyz` says that a clock is why not and what to do. Answers what they said. */
  async #untilExplained(): Promise<string> {
    let said: string[] = [];
    let refusing: ApiProcess | undefined;
    let silent: string[] = [];
    const look = async () => {
      const looks = await Promise.all(this.#cluster.apis.map((_, api) => this.#lookAt(api)));
      refusing = this.#cluster.apis.find((_, api) => looks[api]?.reason !== undefined);
      said = looks.flatMap((each) => each.reason ?? []);
      silent = looks.flatMap((each) => each.silent ?? []);
      return silent.length === 0;
    };
    await until(look, SAID_WITHIN_MS).catch(() => {
      throw new Error(`calls are refused without a word: ${silent.join('; ')}`);
    });
    if (said.length === 0) return ALL_SERVE;
    // A process that does not follow a clock that is right again knows when it will; doctor reads the machine's clock.
    if (said.every((reason) => reason.includes(FOLLOWS))) return `${said.length} processes: ${said[0]}`;
    // On the machine of a process that refuses calls: elsewhere nobody sees what its clock shows.
    const doctor = await this.#runCommand(refusing?.clock.env ?? {}, ['doctor']);
    if (!/clock|ledger time/.test(doctor.out.match(/^.*(problem|warning).*$/gm)?.join('\n') ?? ''))
      throw new Error(`doctor finds nothing: ${doctor.out} ${doctor.err}`);
    return `${said.length} processes: ${said[0]}`;
  }

  async #lookAt(api: number): Promise<{ reason?: string; silent?: string }> {
    const statuses = await Promise.all(this.#agents.map((agent) => this.#ask(agent, api)));
    if (statuses.every((status) => status === 200)) return {};
    const { internalUrl } = this.#cluster.apis[api] ?? {};
    const res = await fetch(`${internalUrl}/readyz`).catch(() => null);
    const text = (await res?.text()) ?? '';
    const reason = /(a clock was|Redis' clock is)[^"]*/.exec(text)?.[0];
    // A process is ready while it can start calls of some agents, with a warning for the others.
    if (reason !== undefined && (res?.status === 503 || text.includes('"warnings"'))) return { reason };
    return { silent: `API ${api} answers ${statuses}, and /readyz ${res?.status} ${text}` };
  }

  /** A process that followed a wrong clock follows the right one within five minutes; time is moved on for that. */
  async #untilServed(when: When): Promise<Pick<JumpRound, 'servedAfterMs' | 'remedy'>> {
    const fromMs = performance.now();
    let minutes = 0;
    const after = () => Math.round(performance.now() - fromMs) + minutes * MINUTE_MS;
    let isServed = await this.#isServedWithin(BY_ITSELF_MS);
    // Processes that all believed the wrong time still agree with the ledger, until they follow their clocks.
    while (minutes < FOLLOWED_MIN && (!isServed || when === 'believed')) {
      if (!isServed) await this.#untilExplained();
      minutes++;
      this.clocks.moveOn(MINUTE_MS);
      await sleep(SECOND_MS);
      isServed = await this.#isServedWithin(BY_ITSELF_MS);
    }
    if (isServed) return { servedAfterMs: after(), remedy: 'nothing' };
    await this.#untilExplained();
    await this.repair();
    if (!(await this.#isServedWithin(SERVED_WITHIN_MS)))
      throw new Error('calls are refused after the repair');
    return { servedAfterMs: after(), remedy: 'clock repair' };
  }

  async #isServedWithin(withinMs: number): Promise<boolean> {
    const isServed = async () => {
      const all = await Promise.all(this.#agents.map((agent) => this.statuses(agent)));
      return all.flat().every((status) => status === 200);
    };
    return until(isServed, withinMs).then(
      () => true,
      () => false,
    );
  }

  async #restart(owner: Owner): Promise<void> {
    const { apis, workers } = this.#cluster;
    const restarted = {
      'an API process': { apis: apis.slice(0, 1), workers: [] },
      'a worker': { apis: [], workers: [0] },
      Redis: { apis: [], workers: [] },
      all: { apis, workers: workers.keys() },
    }[owner];
    for (const worker of restarted.workers) {
      await workers[worker]?.stop('SIGTERM');
      await this.#cluster.startWorker(worker);
    }
    await this.#startApis(restarted.apis);
  }

  async #startApis(apis: readonly ApiProcess[]): Promise<void> {
    await Promise.all(
      apis.map(async (api) => {
        await api.stop('SIGTERM');
        await api.start({ ready: false });
        await until(async () => (await fetch(`${api.internalUrl}/readyz`).catch(() => null)) !== null);
      }),
    );
  }

  /** 0: no answer came. */
  async #ask({ keys }: LoadAgent, api: number): Promise<number> {
    const answer = await askChat({
      dispatcher: this.#dispatcher,
      baseUrl: this.#cluster.baseUrls[api] ?? '',
      key: keys[api]?.key ?? '',
      giveUpMs: GIVE_UP_MS,
      body: { model: MODEL, messages: [{ role: 'user', content: 'Load answer: hello' }], max_tokens: 50 },
    }).catch(() => null);
    return answer?.status ?? 0;
  }
}

const sum = (amounts: Iterable<bigint>): bigint => {
  let total = 0n;
  for (const amount of amounts) total += amount;
  return total;
};
