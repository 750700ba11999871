import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestGateway } from '../support/gateway.ts';
import { findMoneyFault, MODEL_KINDS, modelIdOf, startCompatGateway } from './compat-gateway.ts';
import { judgeStreamed, judgeWhole, openResponsesCases, type Post } from './open-responses/cases.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startCompatGateway();
});
afterAll(() => gateway?.stop());

describe.each(MODEL_KINDS)('a client of Open Responses on a %s model', (kind) => {
  const post: Post = (body) => gateway.post({ model: modelIdOf(kind), ...body }, { path: '/responses' });

  it.each(openResponsesCases)('reads $name', (each) => judgeWhole(post, each));
  it.each(openResponsesCases)('reads $name from a stream', (each) => judgeStreamed(post, each));
  it('pays what its calls cost', async () => {
    expect(await findMoneyFault(gateway, gateway.agent)).toBeNull();
  });
});
