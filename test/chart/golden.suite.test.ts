import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { differenceOf, type Outline, outlineOf, textOf } from './outline.ts';
import { ciRenders } from './render.ts';
import { whereInstalled } from './where-installed.ts';

const FOLDER = join(import.meta.dirname, 'golden');
const BASE = 'minimal';

/*
 * For the review: what a change of a template, or of a default, does to what is installed. Written anew with
 * `npx vitest run --project chart test/chart/golden --update`. All of the least installation stands there; of the others, how they differ.
 */
describe.runIf(whereInstalled('helm'))('what is installed is what was reviewed', async () => {
  const outlines = new Map(
    whereInstalled('helm')
      ? (await ciRenders()).map(({ name, objects }): [string, Outline] => [name, outlineOf(objects)])
      : [],
  );
  const base = outlines.get(BASE) ?? (new Map() as Outline);

  test.each([...outlines])('with ci/%s-values.yaml', async (name, outline) => {
    const text = name === BASE ? textOf(outline) : differenceOf(base, outline);
    await expect(`${text}\n`).toMatchFileSnapshot(join(FOLDER, `${name}.txt`));
  });

  test('and no outline is of a file that is gone', () => {
    const files = [...outlines.keys()].map((name) => `${name}.txt`);
    expect(readdirSync(FOLDER).filter((file) => !files.includes(file))).toEqual([]);
  });
});
