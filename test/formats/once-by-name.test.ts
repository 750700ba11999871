import { expect, it } from 'vitest';
import { onceByName } from '../../api/inference/formats/once-by-name.ts';

it('what the name of a model tells is found out once, also where it tells nothing', () => {
  const asked: string[] = [];
  const lengthOf = onceByName((name) => {
    asked.push(name);
    return name === 'unknown' ? null : name.length;
  });
  expect(['gpt-5', 'unknown', 'gpt-5', 'unknown'].map(lengthOf)).toEqual([5, null, 5, null]);
  expect(asked).toEqual(['gpt-5', 'unknown']);
});

it('no more names are remembered than an operator’s lists have', () => {
  let asked = 0;
  const find = onceByName(() => ++asked);
  for (let number = 0; number <= 10_000; number++) find(`model-${number}`);
  expect(find('model-10000')).toBe(10_001);
  expect(find('model-0')).toBe(10_002);
});
