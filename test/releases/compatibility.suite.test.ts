import { describe, expect, test } from 'vitest';
import { isRecord } from '#core/is-record.ts';
import { whereInstalled } from '../chart/where-installed.ts';
import { at, breakingChanges, harmlessChanges, type Json, operation } from './changes.ts';
import { findBreaks, readDocument } from './find-breaks.ts';
import { documentFile } from './last-release.ts';

function currentDocument(): Json {
  const document = readDocument(documentFile('v1'));
  if (!isRecord(document)) throw new Error('The document is no object.');
  return document;
}

async function breaksBetween(older: Json, newer: Json): Promise<string[]> {
  // Else a change that hits nothing would pass for a harmless one.
  expect(newer).not.toEqual(older);
  const breaks = await findBreaks(older, newer);
  return breaks.map((each) => `${each.check} ${each.operation}`);
}

describe.runIf(whereInstalled('oasdiff'))('a client of the last release is broken', () => {
  test.each(breakingChanges)('when %s', async (_, check, where, change) => {
    const newer = currentDocument();
    change(newer);
    expect(await breaksBetween(currentDocument(), newer)).toContain(`${check} ${where}`);
  });

  test('when a path goes, however long it was deprecated: /v1 only grows', async () => {
    const older = currentDocument();
    Object.assign(operation(older, '/balance'), { deprecated: true, 'x-sunset': '2020-01-01' });
    const newer = structuredClone(older);
    delete at(newer, 'paths')['/balance'];
    expect(await breaksBetween(older, newer)).toEqual(['api-path-removed-without-deprecation GET /balance']);
  });

  test.each(harmlessChanges)('never because %s', async (_, change) => {
    const newer = currentDocument();
    change(newer);
    expect(await breaksBetween(currentDocument(), newer)).toEqual([]);
  });
});
