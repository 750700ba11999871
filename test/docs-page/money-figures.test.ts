import { expect, test } from 'vitest';
import { readText } from '../docs/repository-files.ts';
import { usd } from '../support/gateway.ts';
import { startTestProvider } from '../support/provider.ts';

/** The blocks beside the table are run by `guides.suite.test.ts`: what they answer is true. */
const guide = readText('docs/guides/money.md');
const rows = new Map(
  guide.match(/^\|.+\|$/gm)?.map((row) => {
    const [name = '', tokens = '', price = '', dollars = ''] = row
      .slice(1, -1)
      .replaceAll('*', '')
      .split('|');
    return [name.trim(), { tokens: tokens.trim(), price: price.trim(), dollars: dollars.trim() }];
  }),
);

test('the figures of the guide of money add up to what its call answers, at the prices of the list', async () => {
  await using provider = await startTestProvider();
  const list = await (await fetch(`${provider.baseUrl}/models`)).text();
  const { data }: { data: { id: string; pricing: Record<string, string> }[] } = JSON.parse(list);
  const pricing = data.find(({ id }) => id === 'faregate-sim/large')?.pricing;

  const dollarsOf = (name: string): bigint => usd(rows.get(name)?.dollars ?? 'no such row');
  for (const [name, kind] of [
    ['held for the prompt, counted from its bytes', 'prompt'],
    ['held for the answer', 'completion'],
    ['charged for the prompt', 'prompt'],
    ['charged for the answer', 'completion'],
  ] as const) {
    const { tokens = '', price = '' } = rows.get(name) ?? {};
    expect(price).toBe(`$${pricing?.[kind]}`);
    expect(usd(price.slice(1)) * BigInt(tokens.replace('at most ', ''))).toBe(dollarsOf(name));
  }
  const held = dollarsOf('held for the prompt, counted from its bytes') + dollarsOf('held for the answer');
  const charged = dollarsOf('charged for the prompt') + dollarsOf('charged for the answer');
  expect([dollarsOf('held'), dollarsOf('charged'), dollarsOf('returned')]).toEqual([
    held,
    charged,
    held - charged,
  ]);
  expect(usd(/^x-hold-usd: (.+)$/m.exec(guide)?.[1] ?? '')).toBe(held);
  expect(usd(/"cost":([\d.]+)\}/.exec(guide)?.[1] ?? '')).toBe(charged);
});
