import { execFileSync } from 'node:child_process';
import { lstatSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { contextFiles } from '../../image/build-context.ts';
import { buildTree, type Tree } from '../../image/build-tree.ts';
import { whyNoTree } from '../../image/enter-tree.ts';
import { allowedLicences } from '../../image/licences.ts';
import { root, workingFiles } from '../docs/repository-files.ts';
import { freePort } from '../services/free-port.ts';
import { dataOf, startTree } from './started-tree.ts';

const reason = whyNoTree();
if (reason !== null) console.log(`The image's files are not tried. ${reason}`);

/** What a person looks at before the image grows past it. */
const APP_MB_MAX = 80;

describe.skipIf(reason !== null)('the files of the image', () => {
  let tree: Tree;
  let app: string;
  beforeAll(() => {
    tree = buildTree({ root, out: join(root, '.cache/image') });
    app = join(tree.path, 'app');
  });

  const json = (path: string) => JSON.parse(readFileSync(join(app, path), 'utf8'));

  test('are our sources as they are in the repository, what was installed, and nothing else', () => {
    const sources = workingFiles().filter((path) =>
      /^(api|workers)\/|^openapi\/v1\.json$|^docs\/guides\/|^LICENSE$/.test(path),
    );
    const made = ['package.json', 'sbom.cdx.json', 'THIRD_PARTY_LICENCES.txt'];
    const files = filesOf(app).filter((path) => !/^(node_modules|\.cache)\//.test(path));
    expect(files).toEqual([...sources, ...made].sort());
    const changed = sources.filter(
      (path) => !readFileSync(join(app, path)).equals(readFileSync(join(root, path))),
    );
    expect(changed).toEqual([]);
  });

  test('hold every package that runs, and none that is for development or a Node of its own', () => {
    const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
    const wanted = Object.keys(packages).filter((path) => {
      const { dev, optional, devOptional } = packages[path];
      return path !== '' && !dev && !optional && !devOptional && path !== 'node_modules/typescript';
    });
    const installed = filesOf(app).flatMap(
      (path) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\/package\.json$/.exec(path)?.[1] ?? [],
    );
    expect(installed.sort()).toEqual(wanted.sort());
    const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    expect(Object.keys(devDependencies).filter((name) => installed.includes(`node_modules/${name}`))).toEqual(
      [],
    );
    expect(json('package.json')).not.toHaveProperty('devDependencies');
  });

  test('have a bill of materials of exactly these packages', () => {
    const { bomFormat, components, metadata } = json('sbom.cdx.json');
    expect(bomFormat).toBe('CycloneDX');
    expect(metadata.component).toMatchObject({ name: 'faregate', version: json('package.json').version });
    const billed = components.map(
      ({ name, version }: { name: string; version: string }) => `${name}@${version}`,
    );
    expect(billed.sort()).toEqual(installedPackages(app));
    for (const { purl, hashes } of components)
      expect([purl, hashes?.length]).toEqual([expect.stringMatching(/^pkg:npm\//), 1]);
  });

  test('have only licences that may be shipped, and the text of each', () => {
    const { components } = json('sbom.cdx.json');
    const text = readFileSync(join(app, 'THIRD_PARTY_LICENCES.txt'), 'utf8');
    for (const { name, version, licenses } of components) {
      const [{ license }] = licenses;
      expect(allowedLicences).toContain(license.id);
      expect(text).toContain(`${name}@${version}\n${license.id}\n\n`);
    }
  });

  test('belong to root, but for compiled sources and data, and are not larger than they have to be', () => {
    const others = filesOf(app).filter((path) => lstatSync(join(app, path)).uid !== 0);
    expect(others.filter((path) => !path.startsWith('.cache/compile/'))).toEqual([]);
    const kilobytes = Number(execFileSync('du', ['-sk', app], { encoding: 'utf8' }).split('\t')[0]);
    console.log(`The image adds ${(kilobytes / 1024).toFixed(1)} MB to its base.`);
    expect(kilobytes / 1024).toBeLessThan(APP_MB_MAX);
    expect(readdirSync(join(tree.path, 'usr/local/bin'))).toEqual(['node']);
  });

  test('a gateway starts from them as a stranger who may write nothing, answers a paid call, and leaves them as they were', async () => {
    using data = dataOf(tree);
    const before = stateOf(tree.path);
    const [port, internalPort] = [await freePort(), await freePort()];
    const env = {
      PORT: String(port),
      INTERNAL_PORT: String(internalPort),
      NODE_DEBUG_NATIVE: 'COMPILE_CACHE',
    };
    const gateway = startTree(tree, { env, data: data.path });
    await gateway.says('/v1/chat/completions');
    const status = readFileSync(`/proc/${gateway.child.pid}/status`, 'utf8');
    expect(status).toMatch(/^Uid:\s+10001\s+10001\s+10001\s+10001$/m);
    expect(status).toMatch(/^CapEff:\s+0+$/m);
    expect(status).toMatch(/^NoNewPrivs:\s+1$/m);

    const demo = JSON.parse(readFileSync(join(data.path, 'demo.json'), 'utf8'));
    const res = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${demo.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'faregate-sim/small',
        messages: [{ role: 'user', content: 'Say hello.' }],
      }),
    });
    const answer: { usage: { cost: number } } = JSON.parse(await res.text());
    expect([res.status, answer.usage.cost > 0]).toEqual([200, true]);
    const page = await fetch(`http://127.0.0.1:${port}/console/vendor/preact.js`);
    expect(page.status).toBe(200);

    writeFileSync(join(data.path, 'token'), demo.admin_token, { mode: 0o644 });
    const cli = startTree(tree, {
      args: [
        'api/admin/cli.ts',
        '--url',
        `http://127.0.0.1:${internalPort}`,
        '--token-file',
        '/var/lib/faregate/token',
        'agents',
        'list',
      ],
      data: data.path,
    });
    expect([await cli.exit, cli.output()]).toEqual([0, expect.stringMatching(/\bdemo\b/)]);

    gateway.child.kill('SIGTERM');
    expect(await gateway.exit).toBe(0);
    // Its compiled sources were in the image, and whoever may not write them need not.
    expect(gateway.output().match(/^.*(?:rejected|no such file).*$/gm) ?? []).toEqual([]);
    expect(stateOf(tree.path)).toEqual(before);
  });

  test('a worker says what it lacks', async () => {
    using data = dataOf(tree);
    const [unknown, embedded] = [['--help'], ['settlement']].map((args) =>
      startTree(tree, { args: ['workers/main.ts', ...args], data: data.path }),
    );
    expect([await unknown?.exit, unknown?.output()]).toEqual([
      1,
      expect.stringMatching(/^No such role: --help\. There are settlement,/),
    ]);
    expect([await embedded?.exit, embedded?.output()]).toEqual([
      1,
      expect.stringMatching(/^storage\.mode is embedded/),
    ]);
  });

  test('the provider simulator starts from them too', async () => {
    using data = dataOf(tree);
    const simulator = startTree(tree, { args: ['api/simulator/main.ts', '--port=0'], data: data.path });
    await simulator.says('Provider simulator: http://127.0.0.1:');
    simulator.child.kill('SIGTERM');
    expect(await simulator.exit).toBe(0);
  });

  test('nothing of them can be written, by whatever path', async () => {
    using data = dataOf(tree);
    const places = [
      '/app',
      '/app/api',
      '/app/node_modules',
      '/app/.cache',
      '/app/.cache/compile',
      '/usr/local/bin',
      '/',
      '/etc',
    ];
    const tries = `for (const place of ${JSON.stringify(places)}) { try { fs.writeFileSync(place + '/x', ''); console.log(place); } catch {} }
      fs.writeFileSync('/tmp/x', ''); fs.writeFileSync('/var/lib/faregate/x', ''); console.log('end');`;
    const writer = startTree(tree, { args: ['--eval', tries], data: data.path });
    expect([await writer.exit, writer.output()]).toEqual([0, 'end\n']);
  });
});

test('no data, secret or installed package of this machine reaches a build', () => {
  const ignoreFile = readFileSync(join(root, '.dockerignore'), 'utf8');
  const reached = new Set(contextFiles(root, 'api', ignoreFile));
  expect(reached.size).toBeGreaterThan(100);
  const tracked = new Set(workingFiles());
  expect([...reached].filter((path) => !tracked.has(path))).toEqual([]);
});

function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((each) => !each.isDirectory())
    .map((each) => relative(folder, join(each.parentPath, each.name)))
    .sort();
}

/** By what npm says that it has installed. */
function installedPackages(app: string): string[] {
  const { packages } = JSON.parse(readFileSync(join(app, 'node_modules/.package-lock.json'), 'utf8'));
  return Object.entries<{ version: string }>(packages)
    .map(([path, { version }]) => `${path.replace(/^.*node_modules\//, '')}@${version}`)
    .sort();
}

const stateOf = (folder: string): string[] =>
  filesOf(folder).map((path) => {
    const { size, mtimeMs, mode, uid } = lstatSync(join(folder, path));
    return [path, size, mtimeMs, mode, uid].join(' ');
  });
