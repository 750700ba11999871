import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IndexedSet } from '../../api/core/indexed-set.ts';

describe('a roster', () => {
  it('holds whoever came and has not left, like a Set, through any history', () => {
    const step = fc.record({ who: fc.nat(7), comes: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (history) => {
        const people = Array.from({ length: 8 }, (_, name) => ({ name }));
        const roster = new IndexedSet<{ name: number }>();
        const model = new Set<{ name: number }>();
        for (const { who, comes } of history) {
          const person = people[who];
          if (person === undefined || (comes && model.has(person))) continue;
          if (comes) {
            roster.add(person);
            model.add(person);
          } else expect(roster.delete(person)).toBe(model.delete(person));
          expect(roster.size).toBe(model.size);
          expect(new Set(roster)).toEqual(model);
          for (const each of people) expect(roster.has(each)).toBe(model.has(each));
        }
      }),
    );
  });

  it('leaves out who goes while it is read, and shows nobody twice', () => {
    const [a, b, c, d] = [{}, {}, {}, {}];
    const roster = new IndexedSet<object>();
    for (const each of [a, b, c]) roster.add(each);
    const seen: object[] = [];
    for (const each of roster) {
      seen.push(each);
      if (each !== a) continue;
      roster.delete(a);
      roster.delete(b);
      roster.add(d);
    }
    expect(seen).toEqual([a, c]);
    expect(new Set(roster)).toEqual(new Set([c, d]));
  });

  it('is not fooled by who stands in another one', () => {
    const member = {};
    const [here, there] = [new IndexedSet<object>(), new IndexedSet<object>()];
    here.add(member);
    there.add({});
    expect([there.has(member), there.delete(member), there.size]).toEqual([false, false, 1]);
  });
});
