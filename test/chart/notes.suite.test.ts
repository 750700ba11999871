import { describe, expect, test } from 'vitest';
import { labelOf } from './kube-object.ts';
import { ciFiles, ciRenders, renderFile } from './render.ts';
import { whereInstalled } from './where-installed.ts';

const [minimal = ''] = ciFiles().filter((file) => file.endsWith('minimal-values.yaml'));

/** A setting, and the words that an operator reads who has chosen it. */
const said: [setting: string, words: RegExp][] = [
  ['migrate.mode=none', /-- node api\/admin\/cli\.ts migrate\b/],
  ['api.replicas=1', /WARNING: api\.replicas is 1\b/],
  ['api.replicas=0', /WARNING: api\.replicas is 0\. No gateway runs/],
  ['workers.settlement.replicas=0', /WARNING: workers\.settlement\.replicas is 0\. .* no call starts/],
  ['allowUnsafe=true', /WARNING: allowUnsafe/],
  ['media.s3.bucket=', /NOTE: media\.s3 names no bucket/],
  ['monitoring.podMonitor.enabled=true', /NOTE: .*networkPolicy\.internalFrom/],
  ['monitoring.serviceMonitor.enabled=true', /NOTE: .*networkPolicy\.internalFrom/],
  ['image.repository=faregate', /WARNING: image\.repository/],
  ['test.existingSecret=agent', /helm test shop --namespace gateway/],
  ['service.type=LoadBalancer', /NOTE: connections are not limited per address/],
  ['drain.preStopSeconds=30', /Grace period of an API pod: 1875 s/],
];

describe.runIf(whereInstalled('helm'))('after an install helm', () => {
  test.each(said)('tells of %s', async (setting, words) => {
    expect((await renderFile(minimal, { set: [setting] })).notes).toMatch(words);
  });

  test('warns of nothing that is as it should be', async () => {
    const full = (await ciRenders()).find(({ name }) => name === 'full');
    expect(full?.notes).not.toMatch(/WARNING|NOTE/);
  });

  test('names workloads that there are, in commands that can be pasted', async () => {
    const renders = await ciRenders();
    for (const { name, notes, objects } of renders) {
      const workloads = objects.map((object) => labelOf(object).toLowerCase());
      const named = [...notes.matchAll(/\b(?:deployment|statefulset)\/[\w-]+/g)].map(([each]) => each);
      expect([name, named.length > 0]).toEqual([name, true]);
      expect([name, named.filter((each) => !workloads.includes(each))]).toEqual([name, []]);
      expect(notes).not.toMatch(/%!|<no value>|<nil>/);
    }
  });
});
