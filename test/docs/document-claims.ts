import { posix } from 'node:path';
import { type Command, CommanderError } from 'commander';
import { createProgram } from '../../api/admin/cli/run-cli.ts';
import { slugOf } from '../../api/docs-page/render-guide.ts';
import type { SourceFile } from './repository-files.ts';

/** What a document may rightly name. */
export interface Repository {
  /** Files and folders, from the root. */
  paths: ReadonlySet<string>;
  makeTargets: ReadonlySet<string>;
  npmScripts: ReadonlySet<string>;
  /** Of each document, where a link can lead within it. */
  places: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Every command and path that a document names and that does not exist, in sentences. */
export function findLies({ path, text }: SourceFile, repository: Repository): string[] {
  const { blocks, spans, links } = readDocument(text);
  const commands = [...blocks.flatMap(shellLines), ...spans];
  const lies = [
    ...commands.flatMap((command) => checkCommand(command, repository)),
    ...spans.flatMap((span) => checkPath(span, path, repository)),
    ...links.flatMap((link) => checkLink(link, path, repository)),
  ];
  return lies.map((lie) => `${path}: ${lie}`);
}

export const makeTargetsOf = (makefile: string): Set<string> =>
  new Set([...makefile.matchAll(/^([a-z][a-z-]*):/gm)].map(([, target = '']) => target));

/** Folders too, by the files in them. */
export function pathsOf(files: readonly string[]): Set<string> {
  const paths = new Set(files);
  for (const file of files) {
    for (let folder = posix.dirname(file); folder !== '.'; folder = posix.dirname(folder)) paths.add(folder);
  }
  return paths;
}

/** Where a link can lead within a document: its headings, by the names that GitHub gives them. */
export const placesOf = (text: string): Set<string> =>
  new Set(
    [...text.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
      slugOf(heading),
    ),
  );

function readDocument(text: string): { blocks: string[]; spans: string[]; links: string[] } {
  const blocks: string[] = [];
  const prose = text
    .replaceAll(/^```(?:sh|shell|bash|console)\n([\s\S]*?)^```/gm, (_, block: string) => {
      blocks.push(block);
      return '';
    })
    .replaceAll(/^```[\s\S]*?^```/gm, '')
    // Indented code, too.
    .replaceAll(/^ {4}(\S.*)$/gm, (line, code: string) => {
      if (!/^(make|node|npm|npx|faregate) /.test(code)) return line;
      blocks.push(code);
      return '';
    });
  return {
    blocks,
    spans: [...prose.matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span.trim()),
    links: [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link),
  };
}

const shellLines = (block: string): string[] =>
  block
    .replaceAll(/\\\n\s*/g, ' ')
    .split(/\n|&&|;/)
    .map((line) => line.replace(/(^|\s)#\s.*$/, '').trim());

function checkCommand(command: string, { paths, makeTargets, npmScripts }: Repository): string[] {
  // NAME=value before a command is its environment.
  const words = splitShell(command.replace(/^(?:\w+=\S*\s+)+/, ''));
  const [program, first] = words;
  if (first === undefined) return [];
  switch (program) {
    case 'make': {
      const lies = words.slice(1).filter((word) => /^[a-z][a-z-]*$/.test(word) && !makeTargets.has(word));
      const args = words.find((word) => word.startsWith('ARGS='))?.slice('ARGS='.length);
      const cli = args !== undefined && first === 'cli' ? checkCli(splitShell(args)) : [];
      return [...lies.map((target) => `make has no target ${target}`), ...cli];
    }
    case 'node': {
      const file = words.slice(1).find((word) => !word.startsWith('-'));
      return file === undefined || paths.has(file) ? [] : [`node ${file}: there is no such file`];
    }
    case 'npm': {
      const script = words[2];
      return first === 'run' && script !== undefined && !npmScripts.has(script)
        ? [`npm has no script ${script}`]
        : [];
    }
    case 'faregate':
      return checkCli(words.slice(1));
    default:
      return [];
  }
}

/** Lets the real command line read it. `ID`, `$ID` and `<id>` stand for any value. */
function checkCli(words: readonly string[]): string[] {
  const program = createProgram(() => {
    throw new Error('No command runs here.');
  });
  if (words.some((word) => /[|…]/.test(word))) return [];
  if (words.length === 1) {
    const known = program.commands.some((command) => command.name() === words[0]);
    return known || words[0]?.startsWith('-') ? [] : [`faregate has no command ${words[0]}`];
  }
  disarm(program);
  const values = words.map((word) => (/^(\$?[A-Z][A-Z_]*|<[^>]+>)$/.test(word) ? '1' : word));
  try {
    program.parse(values, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode !== 0) {
      return [`faregate ${words.join(' ')}: ${error.message}`];
    }
  }
  return [];
}

/** Reads as ever, but does nothing and writes nothing. */
function disarm(command: Command): void {
  command.exitOverride().configureOutput({ writeOut: () => undefined, writeErr: () => undefined });
  if (command.commands.length === 0) command.action(() => undefined);
  for (const each of command.commands) disarm(each);
}

/** Words as a shell splits them; a quote inside the other kind is a letter. */
function splitShell(line: string): string[] {
  const words: string[] = [];
  let word: string | null = null;
  let quote: string | null = null;
  for (const letter of line) {
    if (quote === letter) quote = null;
    else if (quote === null && (letter === '"' || letter === "'")) {
      quote = letter;
      word ??= '';
    } else if (quote === null && letter === ' ') {
      if (word !== null) words.push(word);
      word = null;
    } else word = (word ?? '') + letter;
  }
  return word === null ? words : [...words, word];
}

const ROOTS = /^(api|workers|test|openapi|charts|docs|image|\.ci)\//;

/**
 * Checks files by their path, folders with or without a slash, `*` for any; and sources by their name alone. The README of a
 * folder names only sources in that folder or below it so.
 */
function checkPath(span: string, document: string, { paths }: Repository): string[] {
  const path = span.replace(/^#core\//, 'api/core/').replace(/\/$/, '');
  if (/^[\w-]+\.ts$/.test(path)) {
    const folder = posix.basename(document) === 'README.md' ? posix.dirname(document) : '.';
    const near = [...paths].filter((each) => folder === '.' || each.startsWith(`${folder}/`));
    return near.some((each) => posix.basename(each) === path) ? [] : [`no file ${span} is in ${folder}`];
  }
  if (!ROOTS.test(path) || !/^[\w./*{}-]+$/.test(path) || path.endsWith('...')) return [];
  const exists =
    path.includes('*') || path.includes('{')
      ? [...paths].some((each) => posix.matchesGlob(each, path))
      : paths.has(path) || paths.has(`${path}.ts`);
  return exists ? [] : [`there is no ${span}`];
}

function checkLink(link: string, path: string, { paths, places }: Repository): string[] {
  if (/^[a-z]+:/.test(link)) return [];
  const [file = '', place] = link.split('#');
  const target = file === '' ? path : posix.join(posix.dirname(path), file).replace(/\/$/, '');
  const leads = paths.has(target) && (place === undefined || (places.get(target)?.has(place) ?? true));
  return leads ? [] : [`the link to ${link} leads nowhere`];
}
