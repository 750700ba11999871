import { describe, expect, test } from 'vitest';
import { traceOf } from '../../api/contract/trace-id.ts';
import { hello, startTestGateway } from '../support/gateway.ts';

const ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

describe('the trace of a call is', () => {
  const of = (...headers: string[]) => traceOf({ rawHeaders: headers });

  test.each([[`00-${ID}-${SPAN}-01`], [`00-${ID}-${SPAN}-00`], [`cc-${ID}-${SPAN}-01-what-will-be`]])(
    'that of %s',
    (value) => {
      expect(of('Host', 'edge', 'TraceParent', value)).toEqual({ traceId: ID });
    },
  );

  test.each([
    ['no header', []],
    ['an empty one', ['traceparent', '']],
    ['capitals', ['traceparent', `00-${ID.toUpperCase()}-${SPAN}-01`]],
    ['a trace of zeros', ['traceparent', `00-${'0'.repeat(32)}-${SPAN}-01`]],
    ['a span of zeros', ['traceparent', `00-${ID}-${'0'.repeat(16)}-01`]],
    ['the version that never is', ['traceparent', `ff-${ID}-${SPAN}-01`]],
    ['more than this version has', ['traceparent', `00-${ID}-${SPAN}-01-more`]],
    ['something behind it', ['traceparent', `cc-${ID}-${SPAN}-01more`]],
    ['two of them', ['traceparent', `00-${ID}-${SPAN}-01`, 'traceparent', `00-${ID}-${SPAN}-01`]],
    ['a line of its own', ['traceparent', `00-${ID}-${SPAN}-01\n{"forged":1}`]],
  ])('none, of %s', (_, headers) => {
    expect(of(...headers)).toEqual({});
  });
});

test('a line that a call leaves in the log has its trace beside its id, and the provider learns nothing of it', async () => {
  await using gateway = await startTestGateway();
  const headers = { traceparent: `00-${ID}-${SPAN}-01` };
  gateway.provider.next({ usageFields: { cost: '1' } }, { usageFields: { cost: '1' } });
  const traced = await gateway.post(hello(), { headers });
  const plain = await gateway.post(hello());
  const dear = gateway.logged.filter(({ event }) => event === 'a call cost more than it held');
  const callId = (answer: Response) => Number(answer.headers.get('x-service-call-id'));
  expect(dear.map(({ fields }) => fields)).toEqual([
    { agentId: gateway.agent.agentId, callId: callId(traced), traceId: ID, usd: expect.any(String) },
    { agentId: gateway.agent.agentId, callId: callId(plain), usd: expect.any(String) },
  ]);
  const sent = gateway.provider.posts();
  expect(sent.length).toBe(2);
  for (const { headers: names } of sent) expect(JSON.stringify(names)).not.toContain(ID);
});
