import { formatUsd, type NanoUsd } from '#core/money.ts';

/** What every party says when nothing runs any more. */
export interface ProofFigures {
  /** What the agent was given, by whoever gave it; the rest by the ledger. */
  grantedNanoUsd: NanoUsd;
  freeNanoUsd: NanoUsd;
  heldNanoUsd: NanoUsd;
  chargedNanoUsd: NanoUsd;
  expiredNanoUsd: NanoUsd;
  /** The least that was free after any event of the log. */
  lowestNanoUsd: NanoUsd;
  holds: number;
  /** Calls whose callers were shown a cost. */
  answers: readonly AnsweredCall[];
  /** All others that the log has: of killed processes, cut off, given up. */
  unseen: { calls: number; chargedNanoUsd: NanoUsd; billedNanoUsd: NanoUsd };
  /** Where Redis, the log and Cassandra differ, events that wait, answers that nothing excuses. */
  problems: readonly string[];
}

export interface AnsweredCall {
  name: string;
  shownNanoUsd: NanoUsd;
  /** By the log; `null`: it does not know the call. */
  chargedNanoUsd: NanoUsd | null;
  /** By the provider; `null`: it does not know the call. */
  billedNanoUsd: NanoUsd | null;
  /** Its process was killed after the answer and perhaps before the charge was safe: then it may end lower. */
  wasKilled: boolean;
}

export interface Verdict {
  promise: string;
  /** The two sides of it, as they were measured. */
  measured: string;
  isKept: boolean;
}

/** A line for each promise. */
export function judge(figures: ProofFigures): Verdict[] {
  return [judgeBalance, judgeHolds, judgeShown, judgeBills, judgeUnseen, judgeSum, judgeStores].map((rule) =>
    rule(figures),
  );
}

function judgeBalance({ freeNanoUsd, heldNanoUsd, lowestNanoUsd }: ProofFigures): Verdict {
  const balance = freeNanoUsd + heldNanoUsd;
  return {
    promise: 'balance >= 0, at every event of the log',
    measured: `${dollars(balance)} is left, ${dollars(lowestNanoUsd)} was free at the lowest`,
    isKept: balance >= 0n && lowestNanoUsd >= 0n,
  };
}

const judgeHolds = ({ holds, heldNanoUsd }: ProofFigures): Verdict => ({
  promise: 'holds = 0',
  measured: `${holds} holds, ${dollars(heldNanoUsd)} held`,
  isKept: holds === 0 && heldNanoUsd === 0n,
});

function judgeShown({ answers }: ProofFigures): Verdict {
  const off = answers.filter(({ shownNanoUsd, chargedNanoUsd }) => shownNanoUsd !== chargedNanoUsd);
  const lower = off.filter((call) => call.wasKilled && (call.chargedNanoUsd ?? 0n) < call.shownNanoUsd);
  const [wrong] = off.filter((call) => !lower.includes(call));
  const shown = sum(answers, (call) => call.shownNanoUsd);
  const charged = sum(answers, (call) => call.chargedNanoUsd ?? 0n);
  const sums = `${answers.length} calls were shown ${dollars(shown)} and charged ${dollars(charged)}`;
  const spared = lower.length === 0 ? '' : `; ${lower.length} lower, killed before the charge was safe`;
  const first =
    wrong === undefined
      ? ''
      : `; call ${wrong.name} was shown ${dollars(wrong.shownNanoUsd)}, charged ${dollarsOr(wrong.chargedNanoUsd)}`;
  return {
    promise: 'charges = what clients were shown',
    measured: sums + spared + first,
    // Of nothing, nothing is proven.
    isKept: answers.length > 0 && wrong === undefined,
  };
}

/** A charge is the provider's bill, or the whole hold where the bill is higher: what is more the operator bears. */
function judgeBills({ answers }: ProofFigures): Verdict {
  const wrong = answers.find(
    ({ shownNanoUsd, billedNanoUsd }) => billedNanoUsd === null || shownNanoUsd > billedNanoUsd,
  );
  const billed = sum(answers, (call) => call.billedNanoUsd ?? 0n);
  const shown = sum(answers, (call) => call.shownNanoUsd);
  const first =
    wrong === undefined
      ? ''
      : `; call ${wrong.name} was shown ${dollars(wrong.shownNanoUsd)}, billed ${dollarsOr(wrong.billedNanoUsd)}`;
  return {
    promise: 'no call costs more than its provider billed',
    measured: `the provider billed ${dollars(billed)} for them, ${dollars(billed - shown)} above holds${first}`,
    isKept: wrong === undefined,
  };
}

const judgeUnseen = ({ unseen }: ProofFigures): Verdict => ({
  promise: 'calls that were cut pay no more than was billed',
  measured:
    `the log charges ${dollars(unseen.chargedNanoUsd)} for ${unseen.calls} whose callers saw no cost, ` +
    `the provider billed ${dollars(unseen.billedNanoUsd)}`,
  isKept: unseen.chargedNanoUsd <= unseen.billedNanoUsd,
});

function judgeSum(figures: ProofFigures): Verdict {
  const { grantedNanoUsd, freeNanoUsd, heldNanoUsd, chargedNanoUsd, expiredNanoUsd, answers, unseen } =
    figures;
  const parts = freeNanoUsd + heldNanoUsd + chargedNanoUsd + expiredNanoUsd;
  const ofCalls = sum(answers, (call) => call.chargedNanoUsd ?? 0n) + unseen.chargedNanoUsd;
  const words = [
    `${dollars(freeNanoUsd)} + ${dollars(heldNanoUsd)} + ${dollars(chargedNanoUsd)} + ${dollars(expiredNanoUsd)}`,
    ...(ofCalls === chargedNanoUsd ? [] : [`its calls were charged ${dollars(ofCalls)}`]),
  ];
  return {
    promise: 'granted = free + held + charged + expired',
    measured: `${dollars(grantedNanoUsd)} ${grantedNanoUsd === parts ? '=' : '≠'} ${words.join('; ')}`,
    isKept: grantedNanoUsd === parts && ofCalls === chargedNanoUsd,
  };
}

const judgeStores = ({ problems }: ProofFigures): Verdict => ({
  promise: 'Redis, log and Cassandra agree',
  measured: problems.length === 0 ? '0 differences' : `${problems.length} problems, first: ${problems[0]}`,
  isKept: problems.length === 0,
});

const dollars = (nanoUsd: NanoUsd): string => `$${formatUsd(nanoUsd)}`;
const dollarsOr = (nanoUsd: NanoUsd | null): string => (nanoUsd === null ? 'nothing' : dollars(nanoUsd));
const sum = <T>(items: readonly T[], amount: (item: T) => NanoUsd): NanoUsd =>
  items.reduce<NanoUsd>((total, item) => total + amount(item), 0n);
