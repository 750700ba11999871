/** One instruction of a Dockerfile: its continued lines joined, variables not yet filled in. */
export interface Instruction {
  keyword: string;
  text: string;
  line: number;
}

/** A `FROM` with what follows it. */
export interface Stage {
  name: string;
  base: string;
  instructions: readonly Instruction[];
}

export interface Dockerfile {
  /** Before the first stage: what its `FROM` lines, and stages that name them again, may use. */
  globals: ReadonlyMap<string, string>;
  stages: readonly Stage[];
}

const known = [
  'ARG',
  'FROM',
  'WORKDIR',
  'COPY',
  'RUN',
  'ENV',
  'LABEL',
  'USER',
  'EXPOSE',
  'STOPSIGNAL',
  'ENTRYPOINT',
  'CMD',
];

/**
 * As much of the language as ours uses. Anything else is refused: a step that is not followed would make another tree than
 * the image's.
 */
export function readDockerfile(text: string): Dockerfile {
  const globals = new Map<string, string>();
  const stages: (Stage & { instructions: Instruction[] })[] = [];
  for (const instruction of readInstructions(text)) {
    const { keyword, text: rest, line } = instruction;
    if (!known.includes(keyword)) throw new Error(`Dockerfile:${line}: ${keyword} is not followed.`);
    if (keyword === 'FROM') {
      const [, base = '', name = `stage-${stages.length}`] = /^(\S+)(?:\s+AS\s+(\S+))?$/i.exec(rest) ?? [];
      if (base === '') throw new Error(`Dockerfile:${line}: this FROM is not followed.`);
      stages.push({ name, base, instructions: [] });
    } else if (stages.length > 0) stages.at(-1)?.instructions.push(instruction);
    else if (keyword === 'ARG') globals.set(...defaultOf(rest));
    else throw new Error(`Dockerfile:${line}: ${keyword} stands before the first FROM.`);
  }
  return { globals, stages };
}

/** `NAME=value` and its default; without one it is empty. */
export function defaultOf(text: string): [name: string, value: string] {
  const [, name = '', value = ''] = /^(\w+)(?:=(.*))?$/.exec(text) ?? [];
  return [name, value];
}

/** `${NAME}` and nothing else: `$NAME` stays for the shell. */
export const fillIn = (text: string, values: ReadonlyMap<string, string>): string =>
  text.replaceAll(/\$\{(\w+)\}/g, (_, name: string) => values.get(name) ?? '');

/** `a=1 b="two words"`. */
export const pairsOf = (text: string): [name: string, value: string][] =>
  [...text.matchAll(/([\w.]+)=(?:"([^"]*)"|(\S+))/g)].map(([, name = '', quoted, bare = '']) => [
    name,
    quoted ?? bare,
  ]);

function readInstructions(text: string): Instruction[] {
  const instructions: Instruction[] = [];
  let open: { line: number; parts: string[] } | null = null;
  for (const [index, raw] of text.split('\n').entries()) {
    if (/^\s*#/.test(raw) || (open === null && raw.trim() === '')) continue;
    open ??= { line: index + 1, parts: [] };
    open.parts.push(raw.trim().replace(/\s*\\$/, ''));
    if (raw.trimEnd().endsWith('\\')) continue;
    const [, keyword = '', rest = ''] = /^(\S+)\s+(.*)$/.exec(open.parts.join(' ')) ?? [];
    instructions.push({ keyword: keyword.toUpperCase(), text: rest.trim(), line: open.line });
    open = null;
  }
  return instructions;
}
