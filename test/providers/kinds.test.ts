import { expect, test } from 'vitest';
import { PROVIDER_KIND_NAMES, providerKinds } from '../../api/providers/provider-kinds.ts';
import { framedWire } from './made-up/framed-wire.ts';
import { madeUpWire } from './made-up/wire.ts';
import { describeProviderContract, type ProviderWire } from './provider-contract.ts';
import { wires } from './wires.ts';

/** Made up to prove that a folder is enough. */
const madeUp: readonly ProviderWire[] = [madeUpWire, framedWire];

test('every kind of provider has its contract', () => {
  expect(wires.map(({ kind }) => kind.name).sort()).toEqual([...PROVIDER_KIND_NAMES].sort());
});

test('no two kinds are configured by the same key of the environment', () => {
  const variables = Object.values(providerKinds).flatMap(
    ({ configuration: { fromKey } }) => fromKey?.variable ?? [],
  );
  expect(variables).toEqual([...new Set(variables)]);
  for (const { kind } of madeUp) expect(kind.configuration.fromKey).toBeNull();
});

for (const wire of [...wires, ...madeUp]) describeProviderContract(wire);
