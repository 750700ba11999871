import { expect, it } from 'vitest';
import { listMetrics } from '../../openapi/generate/metrics-table.ts';
import { startTestGateway } from '../support/gateway.ts';
import { describeMetrics, describeTable } from './describe-metrics.ts';

it('the table of metrics is what a gateway in one process tells: names, types and help', async () => {
  await using gateway = await startTestGateway();
  const told = await describeMetrics(gateway.running.internalUrl);
  expect(told.get('faregate_open_streams')).toBe('gauge: Streams between their hold and their settlement');
  expect(told).toEqual(describeTable('embedded'));
});

it('every metric of ours has a help text of its own, and one meaning wherever it is told', () => {
  const ours = listMetrics().filter(({ name }) => name.startsWith('faregate_'));
  expect(ours.length).toBeGreaterThan(50);
  for (const { name, help } of ours) expect([name, help.length > 10]).toEqual([name, true]);
  expect(new Set(ours.map(({ help }) => help)).size).toBe(ours.length);
});
