import { describe, expect, test } from 'vitest';
import { readText } from './repository-files.ts';

const READERS = ['Operators', 'Users of the API', 'Internals'];

/** What is wrong with a changelog, in sentences. */
function faultsOf(changelog: string): string[] {
  const [, ...releases] = changelog.split(/^## /m);
  const titles = releases.map((release) => release.split('\n', 1)[0] ?? '');
  const faults = titles.slice(1).flatMap((title) => {
    const dated = /^\d+\.\d+\.\d+ \(\d{4}-\d{2}-\d{2}\)$/.test(title);
    return dated ? [] : [`"${title}" is no version with its date`];
  });
  if (titles[0] !== 'Unreleased') faults.push('what is not released yet does not come first');
  for (const [at, release] of releases.entries()) {
    const [, ...groups] = release.split(/^### /m);
    const readers = groups.map((group) => group.split('\n', 1)[0] ?? '');
    if (readers.join() !== READERS.join())
      faults.push(`${titles[at]} is for ${readers.join(', ') || 'nobody'}, not for ${READERS.join(', ')}`);
    for (const [index, group] of groups.entries()) {
      // What is not released may have nothing to say yet.
      if (at > 0 && !/^- /m.test(group)) faults.push(`${titles[at]} says nothing to ${readers[index]}`);
    }
  }
  return faults;
}

test('every release of the changelog speaks to operators, users of the API and internals, in this order', () => {
  expect(faultsOf(readText('CHANGELOG.md'))).toEqual([]);
});

test('its head leads to what a release promises', () => {
  const [head = ''] = readText('CHANGELOG.md').split(/^## /m);
  expect(head).toContain('(docs/versioning.md)');
});

describe('the check finds', () => {
  const group = (reader: string) => `### ${reader}\n- Something.\n`;
  const groups = READERS.map(group).join('');

  test.each([
    ['no release', ''],
    ['an old release first', `## 0.1.0 (2026-01-01)\n${groups}`],
    ['a release without a date', `## Unreleased\n${groups}## 0.1.0\n${groups}`],
    ['a reader that is forgotten', `## Unreleased\n${group('Operators')}${group('Internals')}`],
    ['another order', `## Unreleased\n${READERS.toReversed().map(group).join('')}`],
    ['another reader', `## Unreleased\n${groups}${group('Everybody')}`],
    [
      'a group with nothing in it',
      `## Unreleased\n${groups}## 0.1.0 (2026-01-01)\n${groups.replace('- Something.\n', '')}`,
    ],
  ])('%s', (_, text) => {
    expect(faultsOf(`# Changelog\n\n${text}`)).toHaveLength(1);
  });

  test('nothing wrong with releases behind what is not released', () => {
    expect(faultsOf(`# Changelog\n\n## Unreleased\n${groups}## 0.1.0 (2026-01-01)\n${groups}`)).toEqual([]);
  });
});
