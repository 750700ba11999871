import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chownSync,
  cpSync,
  existsSync,
  lchownSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, posix, resolve } from 'node:path';
import { contextFiles } from './build-context.ts';
import {
  type Dockerfile,
  defaultOf,
  fillIn,
  type Instruction,
  pairsOf,
  readDockerfile,
  type Stage,
} from './dockerfile.ts';
import { enterTree } from './enter-tree.ts';

/** What an engine would keep beside the files. */
export interface ImageSettings {
  env: Record<string, string>;
  labels: Record<string, string>;
  user: string;
  workdir: string;
  entrypoint: string[];
  command: string[];
  ports: string[];
}

export interface Tree {
  /** Has the files of the last stage, below /app, /usr/local and /var/lib/faregate. */
  path: string;
  settings: ImageSettings;
}

/** Where steps may leave files: the places that a tree is entered with. */
const PLACES = ['app', 'usr/local', 'var/lib/faregate'];
const DONE = 'stage.json';

interface Run {
  root: string;
  out: string;
  dockerfile: Dockerfile;
  ignoreFile: string;
  buildArgs: Readonly<Record<string, string>>;
  /** By the name of a stage. */
  keys: Map<string, string>;
}

/**
 * The files that the Dockerfile of `root` makes, without a container engine: its steps are followed one by one, each RUN in the
 * tree so far. The base image is this machine's system with our Node and its npm. A stage whose files and steps are as they
 * were is not made again.
 */
export function buildTree(options: { root: string; out: string; buildArgs?: Record<string, string> }): Tree {
  const { root, buildArgs = {} } = options;
  const out = resolve(options.out);
  const text = readFileSync(join(root, 'Dockerfile'), 'utf8');
  const ignoreFile = readFileSync(join(root, '.dockerignore'), 'utf8');
  const run: Run = { root, out, dockerfile: readDockerfile(text), ignoreFile, buildArgs, keys: new Map() };
  const trees = run.dockerfile.stages.map((stage) => buildStage(stage, run));
  const last = trees.at(-1);
  if (last === undefined) throw new Error('The Dockerfile has no FROM.');
  return last;
}

function buildStage(stage: Stage, run: Run): Tree {
  const path = join(run.out, stage.name);
  const key = keyOf(stage, run);
  run.keys.set(stage.name, key);
  const known = existsSync(join(path, DONE)) ? JSON.parse(readFileSync(join(path, DONE), 'utf8')) : null;
  if (known?.key === key) return { path, settings: known.settings };
  const making = `${path}.new`;
  for (const each of [making, path]) rmSync(each, { recursive: true, force: true });
  layBase(making);
  const settings = follow(stage, making, run);
  writeFileSync(join(making, DONE), JSON.stringify({ key, settings }, null, 2));
  renameSync(making, path);
  return { path, settings };
}

/** The parts of the base image that steps use or take away. */
function layBase(tree: string): void {
  for (const place of [...PLACES, 'mnt', 'usr/local/bin', 'usr/local/lib/node_modules']) {
    mkdirSync(join(tree, place), { recursive: true });
  }
  const node = join(tree, 'usr/local/bin/node');
  try {
    linkSync(process.execPath, node);
  } catch {
    cpSync(process.execPath, node);
  }
  const command = execFileSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).trim();
  // …/npm/bin/npm-cli.js
  const npm = dirname(dirname(realpathSync(command)));
  cpSync(npm, join(tree, 'usr/local/lib/node_modules/npm'), { recursive: true });
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(tree, 'usr/local/bin/npm'));
}

function follow(stage: Stage, tree: string, run: Run): ImageSettings {
  const values = new Map<string, string>();
  const settings: ImageSettings = {
    env: {},
    labels: {},
    user: '0:0',
    workdir: '/',
    entrypoint: [],
    command: [],
    ports: [],
  };
  for (const { keyword, text, line } of stage.instructions) {
    const filled = fillIn(text, values);
    switch (keyword) {
      case 'ARG': {
        const [name, value] = defaultOf(filled);
        values.set(name, run.buildArgs[name] ?? (value || (run.dockerfile.globals.get(name) ?? '')));
        break;
      }
      case 'ENV':
        for (const [name, value] of pairsOf(filled)) {
          settings.env[name] = value;
          values.set(name, value);
        }
        break;
      case 'LABEL':
        Object.assign(settings.labels, Object.fromEntries(pairsOf(filled)));
        break;
      case 'WORKDIR':
        settings.workdir = filled;
        mkdirSync(inTree(tree, filled, line), { recursive: true });
        break;
      case 'USER':
        settings.user = filled;
        break;
      case 'COPY':
        copy(filled, { tree, workdir: settings.workdir, line, run });
        break;
      case 'RUN':
        runStep(text, { tree, settings, values });
        break;
      case 'ENTRYPOINT':
        settings.entrypoint = JSON.parse(filled);
        break;
      case 'CMD':
        settings.command = JSON.parse(filled);
        break;
      case 'EXPOSE':
        settings.ports.push(...filled.split(/\s+/));
        break;
    }
  }
  return settings;
}

function inTree(tree: string, path: string, line: number): string {
  if (!PLACES.some((place) => `${path}/`.startsWith(`/${place}/`))) {
    throw new Error(`Dockerfile:${line}: ${path} is at none of the places of a tree: ${PLACES.join(', ')}.`);
  }
  return join(tree, path);
}

interface CopyStep {
  from: string | null;
  owner: string;
  sources: string[];
  destination: string;
}

function readCopy(text: string, line: number): CopyStep {
  const words = text.split(/\s+/);
  const flags = words.filter((word) => word.startsWith('--'));
  const [destination = '', ...sources] = words.filter((word) => !word.startsWith('--')).reverse();
  const flag = (name: string) => flags.find((each) => each.startsWith(`--${name}=`))?.slice(name.length + 3);
  const isKnown = flags.every((each) => /^--(from|chown)=/.test(each));
  if (!isKnown || sources.length === 0) throw new Error(`Dockerfile:${line}: this COPY is not followed.`);
  return {
    from: flag('from') ?? null,
    owner: flag('chown') ?? '0:0',
    sources: sources.reverse(),
    destination,
  };
}

function copy(
  text: string,
  { tree, workdir, line, run }: { tree: string; workdir: string; line: number; run: Run },
): void {
  const { from, owner, sources, destination } = readCopy(text, line);
  const target = inTree(tree, posix.resolve(workdir, destination), line);
  for (const source of sources) {
    const origin = from === null ? join(run.root, source) : join(run.out, from, source);
    if (statSync(origin).isDirectory()) {
      const files = from === null ? contextFiles(run.root, source, run.ignoreFile) : null;
      if (files === null) cpSync(origin, target, { recursive: true, verbatimSymlinks: true });
      for (const file of files ?? []) {
        mkdirSync(dirname(join(target, posix.relative(source, file))), { recursive: true });
        cpSync(join(run.root, file), join(target, posix.relative(source, file)));
      }
      own(target, owner);
    } else {
      if (from === null && contextFiles(run.root, source, run.ignoreFile).length === 0) {
        throw new Error(`Dockerfile:${line}: ${source} is ignored by .dockerignore.`);
      }
      const file = destination.endsWith('/') || sources.length > 1 ? join(target, basename(source)) : target;
      mkdirSync(dirname(file), { recursive: true });
      cpSync(origin, file);
      own(file, owner);
    }
  }
}

function own(path: string, owner: string): void {
  const [user = 0, group = user] = owner.split(':').map(Number);
  chownSync(path, user, group);
  if (!statSync(path).isDirectory()) return;
  for (const each of readdirSync(path, { recursive: true, withFileTypes: true })) {
    lchownSync(join(each.parentPath, each.name), user, group);
  }
}

function runStep(
  text: string,
  step: { tree: string; settings: ImageSettings; values: ReadonlyMap<string, string> },
): void {
  const { tree, settings, values } = step;
  const { user, workdir: folder } = settings;
  const [program, ...args] = enterTree({
    tree,
    folder,
    user,
    mode: 'rw',
    data: null,
    command: ['sh', '-c', text],
  });
  const npm = (name: string) => execFileSync('npm', ['config', 'get', name], { encoding: 'utf8' }).trim();
  execFileSync(program, args, {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: {
      PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin',
      HOME: user.startsWith('0') ? '/root' : '/',
      // How this machine reaches its registry; an engine has its own ways.
      ...Object.fromEntries(
        Object.entries(process.env).filter(([name]) => /proxy$|^SSL_CERT|_CA_CERTS$/i.test(name)),
      ),
      npm_config_cache: npm('cache'),
      npm_config_userconfig: npm('userconfig'),
      ...Object.fromEntries(values),
      ...settings.env,
    },
  });
}

/** Of all that a stage is made of. */
function keyOf({ base, instructions }: Stage, run: Run): string {
  const hash = createHash('sha256').update(
    JSON.stringify([base, process.version, instructions, run.buildArgs]),
  );
  hash
    .update(readFileSync(join(import.meta.dirname, 'enter-tree.sh')))
    .update(readFileSync(import.meta.filename));
  for (const { keyword, text, line } of instructions as readonly Instruction[]) {
    if (keyword !== 'COPY') continue;
    const { from, sources } = readCopy(text, line);
    if (from !== null) {
      hash.update(run.keys.get(from) ?? '');
      continue;
    }
    for (const file of sources.flatMap((source) => contextFiles(run.root, source, run.ignoreFile)).sort()) {
      hash.update(file).update(readFileSync(join(run.root, file)));
    }
  }
  return hash.digest('hex');
}
