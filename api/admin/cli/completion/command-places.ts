import type { Command, Option } from 'commander';

/** A command, or the program itself, and what may follow it. */
export interface Place {
  /** Words of the command without the program's own, joined by spaces; empty for the program. */
  at: string;
  commands: Word[];
  flags: Flag[];
  /** Of its arguments: a fixed list, names of files, or what nobody can guess. */
  values: Values;
}

export interface Word {
  name: string;
  description: string;
}

export interface Flag {
  name: string;
  description: string;
  /** `null`: it stands alone. */
  takes: Values | null;
}

export type Values = { kind: 'words'; words: readonly string[] } | { kind: 'files' } | { kind: 'any' };

/** The whole program, itself first. Options of the program hold for each command. */
export function readPlaces(program: Command): Place[] {
  const ofProgram = program.options.map(toFlag);
  const places: Place[] = [];
  const visit = (command: Command, path: readonly string[]): void => {
    const own = path.length === 0 ? [] : command.options.map(toFlag);
    places.push({
      at: path.join(' '),
      commands: command.commands.map((each) => ({ name: each.name(), description: each.description() })),
      flags: [...own, ...ofProgram, HELP],
      values: valuesOf(command),
    });
    for (const each of command.commands) visit(each, [...path, each.name()]);
  };
  visit(program, []);
  return places;
}

const HELP: Flag = { name: '--help', description: 'display help', takes: null };

const toFlag = (option: Option): Flag => ({
  name: option.long ?? option.flags,
  description: option.description,
  takes: option.required ? namedValues(option.flags, option.argChoices) : null,
});

function valuesOf({ registeredArguments: [first] }: Command): Values {
  return first === undefined ? { kind: 'any' } : namedValues(first.name(), first.argChoices);
}

function namedValues(name: string, choices: readonly string[] | undefined): Values {
  if (choices !== undefined) return { kind: 'words', words: choices };
  return /\b(file|path)\b/.test(name) ? { kind: 'files' } : { kind: 'any' };
}

/** Each flag that takes a value, at each place: as `keys create --reset`. */
export const takingFlags = (places: readonly Place[]): { at: string; name: string; takes: Values }[] =>
  places.flatMap(({ at, flags }) =>
    flags.flatMap(({ name, takes }) => (takes === null ? [] : [{ at, name, takes }])),
  );

/** In a shell, as one word. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
