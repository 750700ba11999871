import { expect, test } from 'vitest';
import { OpenCallMap } from '#core/ledger/machine/open-call-map.ts';
import { cpuMsOf } from '../support/cpu-time.ts';
import { createDraw } from './history/random.ts';

test('a table of open calls answers like a Map, whatever comes and goes', () => {
  const random = createDraw(7);
  const table = new OpenCallMap<string>();
  const map = new Map<number, string>();
  for (let step = 0; step < 5_000; step++) {
    const callId = random(20);
    if (random(2) === 0) {
      table.set(callId, `${step}`);
      map.set(callId, `${step}`);
    } else {
      table.delete(callId);
      map.delete(callId);
    }
    expect([...table]).toEqual([...map]);
    expect([table.size, [...table.keys()], [...table.values()]]).toEqual([
      map.size,
      [...map.keys()],
      [...map.values()],
    ]);
    expect([table.has(callId), table.get(callId)]).toEqual([map.has(callId), map.get(callId)]);
  }
});

test('calls may be taken off while they are looked through', () => {
  const table = new OpenCallMap([1, 2, 3, 4].map((callId): [number, string] => [callId, `call ${callId}`]));
  const seen: number[] = [];
  for (const [callId] of table) {
    seen.push(callId);
    table.delete(callId);
  }
  expect([seen, table.size]).toEqual([[1, 2, 3, 4], 0]);
});

test('thousands of open calls come and go in well under a second', () => {
  const callIds = Array.from({ length: 10_000 }, (_, callId) => callId);
  const table = new OpenCallMap<string>();
  const cpuMs = cpuMsOf(() => {
    for (const callId of callIds) table.set(callId, 'open');
    for (const callId of callIds) table.delete(callId);
  });
  expect(table.size).toBe(0);
  expect(cpuMs).toBeLessThan(1_000);
});
