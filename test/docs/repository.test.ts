import { describe, expect, test } from 'vitest';
import { isRecord } from '#core/is-record.ts';
import { readAll, readText, trackedFiles } from './repository-files.ts';

const files = readAll(trackedFiles()).filter(({ text }) => !text.includes('\0'));

// Written in pieces, so that this file does not hold what it looks for.
const HOMES = ['home', 'root', 'work', 'Users'].join('|');
const MACHINE_PATH = new RegExp(`(?:^|[\\s"'\`(=:,])/(?:${HOMES})/[\\w.-]`, 'm');
const REGISTRIES = ['npmjs', 'yarnpkg', 'npmmirror', 'pypi', 'golang', 'crates', 'docker'].join('|');
const KINDS = 'registry|proxy|npm|pkg|files|static|index';
const REGISTRY_HOST = new RegExp(`\\b(?:${KINDS})\\.(?:[\\w-]+\\.)?(?:${REGISTRIES})\\b`, 'i');

test('no committed file names a folder of somebody’s machine', () => {
  expect(files.length).toBeGreaterThan(100);
  expect(files.filter(({ text }) => MACHINE_PATH.test(text)).map(({ path }) => path)).toEqual([]);
});

test('no committed file names a package registry', () => {
  expect(files.filter(({ text }) => REGISTRY_HOST.test(text)).map(({ path }) => path)).toEqual([]);
});

describe('the packages', () => {
  const manifest: unknown = JSON.parse(readText('package.json'));
  const lock: unknown = JSON.parse(readText('package-lock.json'));
  const blocks = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'];
  const packages = isRecord(lock) && isRecord(lock.packages) ? lock.packages : {};

  test('are pinned to one version each', () => {
    const versions = blocks.flatMap((block) => versionsOf(manifest, block));
    expect(versions.length).toBeGreaterThan(10);
    expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]);
  });

  test('are the ones that the lock file holds', () => {
    for (const block of blocks) {
      expect(versionsOf(packages[''], block)).toEqual(versionsOf(manifest, block));
      for (const [name, version] of versionsOf(manifest, block)) {
        expect(packages[`node_modules/${name}`]).toMatchObject({ version });
      }
    }
  });

  test('are locked by content, not by where they were downloaded', () => {
    const locked = Object.entries(packages).filter(([path]) => path !== '');
    expect(locked.length).toBeGreaterThan(50);
    for (const [path, entry] of locked) {
      expect([
        path,
        isRecord(entry) && typeof entry.integrity,
        isRecord(entry) && 'resolved' in entry,
      ]).toEqual([path, 'string', false]);
    }
  });

  test('run nothing when they are installed, and npm keeps the pins', () => {
    const settings = readText('.npmrc').split('\n');
    expect(settings).toEqual(
      expect.arrayContaining([
        'ignore-scripts=true',
        'save-exact=true',
        'omit-lockfile-registry-resolved=true',
      ]),
    );
  });
});

test('the patterns find what they are for', () => {
  for (const home of HOMES.split('|')) {
    expect(`cd /${home}/someone/x`).toMatch(MACHINE_PATH);
    expect(`"/${home}/x"`).toMatch(MACHINE_PATH);
  }
  expect('https://example.com/work/x and src/work/x, /workers/x').not.toMatch(MACHINE_PATH);
  expect(`https://registry.${'npmjs'}.org/zod`).toMatch(REGISTRY_HOST);
  expect(`https://proxy.${'golang'}.org`).toMatch(REGISTRY_HOST);
  expect('registry.metrics() at npm').not.toMatch(REGISTRY_HOST);
});

function versionsOf(record: unknown, block: string): [string, string][] {
  const versions = isRecord(record) ? record[block] : undefined;
  return isRecord(versions) ? Object.entries(versions).map(([name, version]) => [name, String(version)]) : [];
}
