import type { Command } from 'commander';

/** Lines to paste, each with what it is for, under a command's help. */
export function addExamples(command: Command, examples: Readonly<Record<string, string>>): void {
  const lines = Object.entries(examples).map(([line, what]) => [`  $ faregate ${line}`, what] as const);
  const width = Math.max(...lines.map(([line]) => line.length));
  const text = lines.map(([line, what]) => `${line.padEnd(width)}  # ${what}`);
  command.addHelpText('after', ['', 'Examples:', ...text].join('\n'));
}
