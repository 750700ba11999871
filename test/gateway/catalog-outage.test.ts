import { expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import { FORMATS, requestIn } from '../formats/requests.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { startTestGateway, type TestGateway, until } from '../support/gateway.ts';
import { pathOf } from '../support/path-of.ts';
import { startWireProvider, type WireProvider } from '../support/wire-provider.ts';

const list = {
  body: JSON.stringify({
    data: [
      { id: 'acme/small', context_length: 1_000, pricing: { prompt: '0.000001', completion: '0.000004' } },
    ],
  }),
};

const startBefore = (wire: WireProvider, clock = createFakeClock()) =>
  startTestGateway({
    clock,
    yaml: `
server: { port: 0, internalPort: 0, host: 127.0.0.1, internalHost: 127.0.0.1 }
providers:
  - { id: router, kind: openrouter, baseUrl: "${wire.url}/v1", catalogMaxAgeMs: ${2 * HOUR_MS} }
`,
  });

async function codesOf(gateway: TestGateway): Promise<unknown[]> {
  const codes: unknown[] = [];
  for (const format of FORMATS) {
    const res = await gateway.post(requestIn(format, 'acme/small'), { path: pathOf(format) });
    const { error } = JSON.parse(await res.text());
    codes.push(`${res.status} ${error.code} ${res.headers.get('retry-after')}`);
  }
  return codes;
}

const lines = ({ logged }: TestGateway) =>
  logged
    .filter(({ event }) => event.startsWith('a list of models'))
    .map(({ event, fields }) => [event, fields?.cause]);

it('a list that does not come at the start is logged, and its models are unavailable on every format until it does', async () => {
  await using wire = await startWireProvider();
  wire.answer({ status: 404, body: 'not found' });
  const clock = createFakeClock();
  await using gateway = await startBefore(wire, clock);
  expect(await codesOf(gateway)).toEqual(FORMATS.map(() => '503 catalog_unavailable 5'));
  expect(lines(gateway)).toEqual([
    ['a list of models did not come, it is asked for again', 'The provider answered 404.'],
  ]);
  expect(await gateway.metric('faregate_catalog_lists_stale')).toBe(1);

  wire.answer(list);
  clock.advance(MINUTE_MS);
  await until(() => gateway.running.deps.catalog.models().length === 1);
  expect(await gateway.metric('faregate_catalog_lists_stale')).toBe(0);
  wire.answer({ status: 400, body: '{"error":{"code":400,"message":"seen by the provider"}}' });
  expect(await codesOf(gateway)).toEqual(FORMATS.map(() => '400 invalid_request null'));
});

it('a list that could not be refreshed for too long is not served from, on any format', async () => {
  await using wire = await startWireProvider();
  wire.answer(list);
  const clock = createFakeClock();
  await using gateway = await startBefore(wire, clock);
  const { catalog } = gateway.running.deps;
  wire.answer({ status: 503, body: '' });
  clock.advance(HOUR_MS);
  await until(() => catalog.status()[0]?.lastError !== null);
  expect(await gateway.metric('faregate_catalog_lists_stale')).toBe(0);
  expect(catalog.models()).toHaveLength(1);

  clock.advance(HOUR_MS);
  await until(async () => {
    clock.advance(MINUTE_MS);
    return catalog.status().every(({ stale }) => stale);
  });
  // In a cluster the log has to be heard from again after all those hours.
  await until(async () => !(await codesOf(gateway)).join(' ').includes('service_unavailable'));
  expect(await codesOf(gateway)).toEqual(FORMATS.map(() => '503 catalog_unavailable 5'));
  // Of models, of videos and of images.
  expect(await gateway.metric('faregate_catalog_lists_stale')).toBe(3);
  expect(lines(gateway).map(([event]) => event)).toEqual([
    'a list of models did not come, it is asked for again',
    'a list of models is too old, they are not served until it comes',
  ]);
});
