import type { ShardLedger } from '#core/ledger/cluster/redis-ledger.ts';
import type { Command, ResultOf } from '#core/ledger/command.ts';
import type { AgentView, Executed, Ledger, UnavailableResult } from '#core/ledger/ledger.ts';
import type { LogOracle } from './log-oracle.ts';
import type { Broken } from './oracle-agent.ts';

export interface ToldOptions {
  oracle: LogOracle;
  broken: Broken;
  /** The process knows now that the log has this answer. */
  onTold: (command: Command, result: ResultOf<Command>) => void;
  answersAtOnce: (command: Command) => boolean;
}

/** The product's ledger, watched: whatever it says is durable has to stand in the log at that moment. */
export function toldLedger(ledger: Ledger, options: ToldOptions): Ledger {
  return {
    ...toldShard(ledger, options),
    findKey: (hashes) => ledger.findKey(hashes),
    recallKey: (hashes) => ledger.recallKey(hashes),
    listAgents: () => ledger.listAgents(),
    readVideo: (agentId, videoId) => ledger.readVideo(agentId, videoId),
    findVideoByKey: (agentId, idempotencyKey) => ledger.findVideoByKey(agentId, idempotencyKey),
    listOpenVideos: () => ledger.listOpenVideos(),
    close: () => ledger.close(),
  };
}

export function toldShard(ledger: ShardLedger, options: ToldOptions): ShardLedger {
  const { oracle, broken, answersAtOnce } = options;
  return {
    async execute<C extends Command>(command: C): Promise<Executed<ResultOf<C>>> {
      const { result, durable } = await ledger.execute(command);
      const known = answersAtOnce(command) ? Promise.resolve('durable' as const) : durable;
      const watched = known.then((durability) => {
        if (durability === 'durable' && isAnswer(result)) check(options, command, result);
        return durability;
      });
      return { result, durable: watched };
    },
    async readAgent(agentId) {
      const view = await ledger.readAgent(agentId);
      if (view !== null && view !== 'unavailable') checkView(view, oracle, broken);
      return view;
    },
    listEnded: (byMs) => ledger.listEnded(byMs),
    listHolds: () => ledger.listHolds(),
  };
}

function check({ oracle, broken, onTold }: ToldOptions, command: Command, result: ResultOf<Command>): void {
  const names = namesOf(command, result);
  if (names.length > 0 && !names.some((name) => oracle.has(command.agentId, name))) {
    broken('TOLD_WITHOUT_LOG', { command: command.type, names, result });
  }
  if (command.type === 'reserve' && !result.ok && result.reason === 'balance' && 'heldNanoUsd' in result) {
    const { heldNanoUsd } = result;
    const logged = oracle
      .agent(command.agentId)
      ?.sums.some((sums) => sums.split(' ')[1] === String(heldNanoUsd));
    if (heldNanoUsd > 0n && logged !== true)
      broken('REFUSED_FOR_NOTHING', { command: command.callId, result });
  }
  if (command.type === 'settle' && 'chargedNanoUsd' in result) {
    const charged = oracle.agent(command.agentId)?.calls.get(command.callId)?.chargedNanoUsd;
    if (charged !== result.chargedNanoUsd) {
      broken('TOLD_OTHER_CHARGE', { callId: command.callId, charged, result });
    }
  }
  onTold(command, result);
}

const isAnswer = <R extends ResultOf<Command>>(result: R | UnavailableResult): result is R =>
  result.ok || result.reason !== 'unavailable';

function checkView(view: AgentView, oracle: LogOracle, broken: Broken): void {
  const free = view.lots.reduce((total, lot) => total + lot.freeNanoUsd, 0n);
  const held = view.lots.reduce((total, lot) => total + lot.heldNanoUsd, 0n);
  const sums = `${free} ${held} ${view.chargedNanoUsd}`;
  const logged = oracle.agent(view.agentId)?.sums[view.version];
  if (logged !== sums)
    broken('READ_WITHOUT_LOG', { agentId: view.agentId, version: view.version, sums, logged });
}

/** Any one of these stands for the answer. */
function namesOf(command: Command, result: ResultOf<Command>): string[] {
  if (!result.ok) {
    if (result.reason === 'done' && 'callId' in command) return [`settled ${command.callId}`];
    return command.type === 'move_out' ? [`move_refused ${command.tradeId}`] : [];
  }
  const repeated = 'repeated' in result && result.repeated;
  switch (command.type) {
    case 'reserve':
      return [`reserved ${command.callId}`];
    case 'finish':
      return [`finished ${command.callId}`];
    case 'settle':
      return [`settled ${command.callId}`];
    case 'grant':
      return [`granted ${command.grantId}`];
    case 'move_out':
      return [`moved_out ${command.tradeId}`];
    case 'move_in':
      return [`moved_in ${command.tradeId}`];
    case 'put_key':
      return [`key_put ${command.keyId}`];
    case 'change_key':
      // Every change of a simulated key has a label of its own.
      return [`key_put ${command.keyId} ${command.label}`];
    case 'start_upload':
      return [`upload_started ${command.uploadId}`];
    case 'revoke_key':
      return [`key_revoked ${command.keyId}`];
    case 'set_agent':
      // Where a later version came first, this one never shows.
      return repeated ? [] : [`agent_set ${command.source} ${command.sourceVersion}`];
    case 'claim_video':
    case 'submit_video':
    case 'withdraw_video':
    case 'renew':
    case 'expire':
      return [];
    default:
      return command satisfies never;
  }
}
