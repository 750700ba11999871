import { describe, expect, test } from 'vitest';
import { policies } from './policies/policies.ts';
import { ciRenders } from './render.ts';
import { whereInstalled } from './where-installed.ts';

describe.runIf(whereInstalled('helm'))('in every file of ci/', () => {
  test.each(policies)('$name', async ({ find }) => {
    const renders = await ciRenders();
    expect(renders.length).toBeGreaterThan(3);
    expect(renders.flatMap((render) => find(render).map((finding) => `${render.name}: ${finding}`))).toEqual(
      [],
    );
  });
});
