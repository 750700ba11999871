import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { type Command, CommanderError } from 'commander';
import { expect, test } from 'vitest';
import { createProgram, runCli } from '../../api/admin/cli/run-cli.ts';
import { cliEnvironment } from '../../api/config/cli-environment.ts';

async function help(path: readonly string[]): Promise<string> {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const environment = cliEnvironment({});
  expect(await runCli([...path, '--help'], { environment, stdin, stdout, stderr })).toBe(0);
  stdout.end();
  return text(stdout);
}

const reached = new Error('usage is right');
const program = () =>
  createProgram(() => {
    throw reached;
  });

/** Each group of commands, and each that stands alone. */
const groups = program().commands.map((command) => command.name());
const inGroups = program().commands.flatMap((command) =>
  command.commands.map((verb) => [command.name(), verb.name()]),
);
const everyPath = [...groups.map((name) => [name]), ...inGroups];

const examplesIn = (shown: string): string[] =>
  [...shown.matchAll(/^ {2}\$ faregate (.*?) +# \S.*$/gm)].map(([, line = '']) => line);

test('every group of commands has examples in its help or in that of its verbs', async () => {
  for (const group of groups) {
    const verbs = inGroups.filter(([name]) => name === group);
    const shown = await Promise.all([[group], ...verbs].map(help));
    expect([group, shown.flatMap(examplesIn).length > 0]).toEqual([group, true]);
  }
});

test('every example is right usage', async () => {
  const lines = (await Promise.all(everyPath.map(help))).flatMap(examplesIn);
  expect(lines.length).toBeGreaterThan(20);
  for (const line of lines) {
    const words = line.split(' > ')[0]?.match(/'[^']*'|"[^"]*"|\S+/g) ?? [];
    const args = words.map((word) => word.replace(/^(['"])(.*)\1$/, '$2'));
    const made = quiet(program());
    await expect(made.parseAsync(args, { from: 'user' }), line).rejects.toBe(reached);
  }
});

test('every command says what it does, and names the options that hold for all', async () => {
  for (const path of everyPath) {
    const shown = await help(path);
    expect(shown).toContain(`Usage: faregate ${path.join(' ')}`);
    expect(shown).toMatch(/--json +print the answer as JSON/);
  }
});

test('a wrong word is answered with the nearest right one', async () => {
  const made = quiet(program());
  const error = await made.parseAsync(['agent', 'list'], { from: 'user' }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(CommanderError);
  expect(String(error)).toContain('Did you mean agents?');
});

/** Throws instead of ending the process. */
function quiet(command: Command): Command {
  command.exitOverride().configureOutput({ writeErr: () => undefined });
  for (const each of command.commands) quiet(each);
  return command;
}
