import { QUIRK_NAMES, quirks } from '../../api/simulator/quirks.ts';
import { markdownTable } from './markdown-table.ts';

type Quirk = (typeof quirks)[keyof typeof quirks];

const calls: Readonly<Record<Quirk['calls'], string>> = {
  pieces: 'in pieces, numbered',
  whole: 'each whole, in one chunk',
  one_index: 'each whole, all under index 0',
  no_index: 'in pieces without an index',
  empty_names: 'in pieces that repeat id and name as empty texts',
  object: 'in pieces, an object in the place of a list',
};
const reasoning: Readonly<Record<Quirk['reasoning'], string>> = {
  reasoning: '`reasoning`',
  reasoning_content: '`reasoning_content`',
  parts: 'a part of the content',
  none: 'not shown',
};
const usage: Readonly<Record<Quirk['usage'], string>> = {
  asked: 'a chunk of its own, where asked for',
  last_chunk: 'the last chunk',
  in_choice: 'the last choice',
  x_groq: '`x_groq`',
  every_chunk: 'every chunk',
};

/** The table of the simulator's servers with ways of their own. */
export const quirkTable = (): string =>
  markdownTable(
    ['name', 'tool calls in a stream', 'reasoning', 'usage in a stream'],
    QUIRK_NAMES.map((name) => {
      const quirk = quirks[name];
      return [`\`${name}\``, calls[quirk.calls], reasoning[quirk.reasoning], usage[quirk.usage]];
    }),
  );
