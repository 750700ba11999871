import { describe, expect, it } from 'vitest';
import { clients } from './clients.ts';
import { clientsGuide, makeClientsGuide } from './clients-guide.ts';
import { expectedFailures } from './expected-failures.ts';
import { judge, readResults } from './results.ts';
import { isWorksWithFresh } from './works-with.ts';

describe('the page of what works here', () => {
  it('says what the stored results of `make compat` say', async () => {
    expect(await isWorksWithFresh()).toBe(true);
  });

  it('has a result of each client for each kind of model', async () => {
    const results = await readResults();
    expect(Object.keys(results).toSorted()).toEqual(clients.map(({ id }) => id).toSorted());
    for (const byKind of Object.values(results))
      expect(Object.keys(byKind)).toEqual(['native', 'chat-only', 'messages-only']);
  });

  it('has a reason for each check that failed, and no reason for one that passed', async () => {
    const results = await readResults();
    const failed = Object.entries(results).flatMap(([client, byKind]) =>
      Object.entries(byKind).flatMap(([kind, result]) =>
        result.failed.map((check) => ({ client, kind, check })),
      ),
    );
    const explains = (
      each: (typeof expectedFailures)[number],
      { client, kind, check }: (typeof failed)[number],
    ): boolean =>
      each.client === client &&
      check.startsWith(each.check) &&
      (each.kinds === 'all' || each.kinds.some((one) => one === kind));
    expect(failed.filter((one) => !expectedFailures.some((each) => explains(each, one)))).toEqual([]);
    expect(expectedFailures.filter((each) => !failed.some((one) => explains(each, one)))).toEqual([]);
  });
});

describe('a run', () => {
  const check = { name: 'no such check', outcome: 'failed', detail: 'why' } as const;

  it('is red where a check failed that nobody expected', () => {
    expect(judge('codex', 'native', [check]).surprises).toEqual(['no such check failed: why']);
    expect(judge('codex', 'native', [{ ...check, outcome: 'passed' }]).surprises).toEqual([]);
  });
});

it('the guide of clients shows the configuration that was run', async () => {
  expect(await clientsGuide()).toBe(makeClientsGuide());
});
