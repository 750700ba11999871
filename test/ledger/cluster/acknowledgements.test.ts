import { describe, expect, test } from 'vitest';
import { Acknowledgements } from '#core/ledger/cluster/acknowledgements.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

function start(ask: (shard: number) => Promise<string | null> = async () => null) {
  const clock = createFakeClock();
  const acknowledgements = new Acknowledgements({ clock, ask });
  const told: string[] = [];
  const wait = (name: string, shard: number, place: string) =>
    void acknowledgements.wait(shard, place).then((durability) => told.push(`${name} ${durability}`));
  const soon = async () => {
    for (let i = 0; i < 5; i++) await null;
    return told.splice(0);
  };
  return { clock, acknowledgements, wait, soon };
}

describe('who waits for the log', () => {
  test('is told with the first note that covers it, and nobody else is', async () => {
    const { acknowledgements, wait, soon } = start();
    wait('a', 0, '1-5');
    wait('b', 0, '1-6');
    wait('other shard', 1, '1-5');
    acknowledgements.note(0, '1-4');
    expect(await soon()).toEqual([]);
    acknowledgements.note(0, '1-5');
    expect(await soon()).toEqual(['a durable']);
    acknowledgements.note(0, '1-9');
    expect(await soon()).toEqual(['b durable']);
    wait('late', 0, '1-7');
    expect(await soon()).toEqual(['late durable']);
  });

  test('does not know after two seconds, and leaves no timer behind', async () => {
    const { clock, wait, soon } = start();
    wait('a', 0, '1-1');
    clock.advance(1_900);
    expect(await soon()).toEqual([]);
    clock.advance(200);
    expect(await soon()).toEqual(['a unknown']);
    clock.advance(1_000);
    expect(clock.pendingTimers()).toBe(0);
  });

  test('does not know once its shard has begun a newer epoch', async () => {
    const { acknowledgements, wait, soon } = start();
    wait('a', 0, '1-5');
    acknowledgements.note(0, '2-5');
    expect(await soon()).toEqual(['a unknown']);
    wait('of the ended epoch', 0, '1-4');
    expect(await soon()).toEqual(['of the ended epoch unknown']);
  });

  test('of a shard that its process has never heard of finds out at once', async () => {
    const { wait, soon } = start(async () => '1-8');
    wait('a', 3, '1-8');
    expect(await soon()).toEqual(['a durable']);
  });

  test('whose note was lost finds out by asking', async () => {
    const asked: number[] = [];
    const { acknowledgements, clock, wait, soon } = start(async (shard) => {
      asked.push(shard);
      return '1-8';
    });
    acknowledgements.note(3, '1-7');
    wait('a', 3, '1-8');
    expect(await soon()).toEqual([]);
    clock.advance(100);
    expect(await soon()).toEqual(['a durable']);
    expect(asked).toEqual([3]);
  });
});
