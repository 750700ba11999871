import { expect, test } from 'vitest';
import { PROVIDER_KIND_NAMES } from '../../api/providers/provider-kinds.ts';
import { framedWire } from './made-up/framed-wire.ts';
import { madeUpWire } from './made-up/wire.ts';
import { describeProviderContract, type ProviderWire } from './provider-contract.ts';
import { anthropicWire, openaiWire, openrouterWire, simulatorWire } from './wires.ts';

/** Every kind of the registry, and two that are made up to prove that a folder and a line here are enough. */
const madeUp: readonly ProviderWire[] = [madeUpWire, framedWire];
const served: readonly ProviderWire[] = [openrouterWire, openaiWire, anthropicWire, simulatorWire];

test('every kind of provider has its contract', () => {
  expect(served.map(({ kind }) => kind.name).sort()).toEqual([...PROVIDER_KIND_NAMES].sort());
});

for (const wire of [...served, ...madeUp]) describeProviderContract(wire);
