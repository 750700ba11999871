import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { buildTree } from './build-tree.ts';
import { whyNoTree } from './enter-tree.ts';

/*
 * `make image`: the image, where a container engine runs; else the same files in .cache/image, by following the Dockerfile.
 */
const root = join(import.meta.dirname, '..');
const OUT = join(root, '.cache/image');
const DIGEST = /^sha256:[0-9a-f]{64}$/;

const engine = ['docker', 'podman'].find(
  (name) => spawnSync(name, ['info'], { stdio: 'ignore' }).status === 0,
);
if (engine === undefined) withoutEngine();
else withEngine(engine);

function withEngine(name: string): void {
  const { NODE_IMAGE, NODE_DIGEST = '', IMAGE = 'faregate:0.1.0', REVISION } = process.env;
  if (!DIGEST.test(NODE_DIGEST)) {
    fail(
      'Pin the base image: make image NODE_DIGEST=sha256:…, which\n' +
        "docker buildx imagetools inspect node:26.10.0-trixie-slim --format '{{.Manifest.Digest}}' prints.",
    );
  }
  const revision =
    REVISION ?? execFileSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();
  const args = Object.entries({ NODE_IMAGE, NODE_DIGEST, REVISION: revision })
    .filter(([, value]) => value)
    .flatMap(([key, value]) => ['--build-arg', `${key}=${value}`]);
  execFileSync(name, ['build', '--tag', IMAGE, ...args, '.'], { cwd: root, stdio: 'inherit' });
}

function withoutEngine(): void {
  const reason = whyNoTree();
  if (reason !== null)
    fail(`No container engine runs here, and without one the files are made by root on Linux. ${reason}`);
  const { path, settings } = buildTree({ root, out: OUT });
  const kilobytes = execFileSync('du', ['-sk', join(path, 'app')], { encoding: 'utf8' }).split('\t')[0];
  console.log(
    `No container engine runs here; the image's files are in ${path}: /app has ${Math.round(Number(kilobytes) / 1024)} MB.`,
  );
  console.log(JSON.stringify(settings, null, 2));
}

function fail(message: string): never {
  console.error(message);
  process.exit(1);
}
