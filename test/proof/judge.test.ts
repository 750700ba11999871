import { describe, expect, test } from 'vitest';
import { judge, type ProofFigures } from './judge.ts';

const good: ProofFigures = {
  grantedNanoUsd: 1_000n,
  freeNanoUsd: 300n,
  heldNanoUsd: 0n,
  chargedNanoUsd: 700n,
  expiredNanoUsd: 0n,
  lowestNanoUsd: 0n,
  holds: 0,
  answers: [
    { name: '1:1', shownNanoUsd: 400n, chargedNanoUsd: 400n, billedNanoUsd: 400n, wasKilled: false },
    // The provider took more than was held: the operator bears 50.
    { name: '1:2', shownNanoUsd: 200n, chargedNanoUsd: 200n, billedNanoUsd: 250n, wasKilled: false },
  ],
  unseen: { calls: 2, chargedNanoUsd: 100n, billedNanoUsd: 150n },
  problems: [],
};
const [call, other] = good.answers;
if (call === undefined || other === undefined) throw new Error('no calls');

const brokenOf = (change: Partial<ProofFigures>): string[] =>
  judge({ ...good, ...change }).flatMap(({ promise, isKept }) => (isKept ? [] : [promise]));
const measuredOf = (promise: string, change: Partial<ProofFigures>): string | undefined =>
  judge({ ...good, ...change }).find((verdict) => verdict.promise === promise)?.measured;

test('a run in which everything is as promised has seven kept promises', () => {
  expect(judge(good)).toHaveLength(7);
  expect(brokenOf({})).toEqual([]);
});

describe('the proof sees', () => {
  const SHOWN = 'charges = what clients were shown';
  const broken: [string, Partial<ProofFigures>, string[]][] = [
    [
      'a balance below zero',
      {
        freeNanoUsd: -1n,
        chargedNanoUsd: 1_001n,
        unseen: { ...good.unseen, chargedNanoUsd: 401n, billedNanoUsd: 401n },
      },
      ['balance >= 0, at every event of the log'],
    ],
    [
      'a balance that was below zero once',
      { lowestNanoUsd: -1n },
      ['balance >= 0, at every event of the log'],
    ],
    ['a hold that is left', { holds: 1, freeNanoUsd: 299n, heldNanoUsd: 1n }, ['holds = 0']],
    ['a hold of nothing that is left', { holds: 1 }, ['holds = 0']],
    ['credit that is held by no call', { freeNanoUsd: 299n, heldNanoUsd: 1n }, ['holds = 0']],
    [
      'a charge above what was shown',
      { chargedNanoUsd: 701n, freeNanoUsd: 299n, answers: [{ ...call, chargedNanoUsd: 401n }, other] },
      [SHOWN],
    ],
    [
      'a charge above what was shown by a process that was killed',
      {
        chargedNanoUsd: 701n,
        freeNanoUsd: 299n,
        answers: [{ ...call, chargedNanoUsd: 401n, wasKilled: true }, other],
      },
      [SHOWN],
    ],
    [
      'a charge below what was shown by a process that lives',
      { chargedNanoUsd: 699n, freeNanoUsd: 301n, answers: [{ ...call, chargedNanoUsd: 399n }, other] },
      [SHOWN],
    ],
    [
      'an answered call that the log has lost',
      { chargedNanoUsd: 300n, freeNanoUsd: 700n, answers: [{ ...call, chargedNanoUsd: null }, other] },
      [SHOWN],
    ],
    ['a run that answered no call', { chargedNanoUsd: 100n, freeNanoUsd: 900n, answers: [] }, [SHOWN]],
    [
      'a call that is dearer than its bill',
      { answers: [{ ...call, billedNanoUsd: 399n }, other] },
      ['no call costs more than its provider billed'],
    ],
    [
      'a call that the provider never ran',
      { answers: [{ ...call, billedNanoUsd: null }, other] },
      ['no call costs more than its provider billed'],
    ],
    [
      'calls that were cut and pay more than was billed',
      { unseen: { ...good.unseen, billedNanoUsd: 99n } },
      ['calls that were cut pay no more than was billed'],
    ],
    ['credit that was made', { freeNanoUsd: 301n }, ['granted = free + held + charged + expired']],
    ['credit that was lost', { freeNanoUsd: 299n }, ['granted = free + held + charged + expired']],
    [
      'a charge that belongs to no call',
      { freeNanoUsd: 299n, chargedNanoUsd: 701n },
      ['granted = free + held + charged + expired'],
    ],
    ['stores that differ', { problems: ['one says 1, one 2'] }, ['Redis, log and Cassandra agree']],
  ];

  test.each(broken)('%s', (_, change, promises) => {
    expect(brokenOf(change)).toEqual(promises);
  });
});

test('a charge may end below what was shown where the process was killed right after, and the line says so', () => {
  const change: Partial<ProofFigures> = {
    chargedNanoUsd: 300n,
    freeNanoUsd: 700n,
    answers: [{ ...call, chargedNanoUsd: 0n, wasKilled: true }, other],
  };
  expect(brokenOf(change)).toEqual([]);
  expect(measuredOf('charges = what clients were shown', change)).toContain('1 lower');
});

test('a broken promise shows both numbers', () => {
  const change: Partial<ProofFigures> = { answers: [{ ...call, chargedNanoUsd: 401n }, other] };
  expect(measuredOf('charges = what clients were shown', change)).toContain(
    'call 1:1 was shown $0.0000004, charged $0.000000401',
  );
});
