import { expect, test } from 'vitest';
import { PROVIDER_KIND_NAMES } from '../../api/providers/provider-kinds.ts';
import { madeUpWire } from './made-up/wire.ts';
import { describeProviderContract, type ProviderWire } from './provider-contract.ts';
import { anthropicWire, openaiWire, openrouterWire, simulatorWire } from './wires.ts';

/** Every kind of the registry, by its name, and one that is made up to prove that a folder and a line here are enough. */
const wires: readonly ProviderWire[] = [openrouterWire, openaiWire, anthropicWire, simulatorWire, madeUpWire];

test('every kind of provider has its contract', () => {
  const names = wires.map(({ kind }) => kind.name);
  expect(names.filter((name) => name !== 'made-up').sort()).toEqual([...PROVIDER_KIND_NAMES].sort());
});

for (const wire of wires) describeProviderContract(wire);
