import { guides } from '../../api/docs-page/guides.ts';
import { type Block, readBlocks } from '../clients/pasted-blocks.ts';
import { readText } from '../docs/repository-files.ts';

/** A block of a guide, and what the guide says that comes back. */
export interface GuideBlock extends Block {
  guide: string;
  /** Its number in the guide. */
  number: number;
  /** `null`: the guide does not say. */
  shown: string | null;
  /** How it is tried, `elsewhere` with the whole program that it belongs to; `not run` has its reason in `note`. */
  how: 'run' | 'read' | 'elsewhere' | 'not run';
}

const RUN = ['sh', 'ts', 'python'];
const READ = ['json', 'toml'];
const SHOWN = 'output';
const NOT_RUN = /^not run: \S/;
/** `test/compat/clients-guide.ts` takes them from the programs that `make compat` installs, configures and runs. */
const ELSEWHERE = /^(?:run by|installed by|read by a program of) make compat$/;

/** Every block of every guide but those that show what another answers. Throws for one that nothing tries and that does not say why. */
export const guideBlocks = (): GuideBlock[] =>
  guides.flatMap((guide) => {
    const blocks = readBlocks(readText(`docs/guides/${guide}.md`));
    return blocks.flatMap((block, index): GuideBlock[] => {
      if (block.language === 'text' && block.note === SHOWN) return [];
      const next = blocks[index + 1];
      const shown = next?.language === 'text' && next.note === SHOWN ? next.source : null;
      return [{ ...block, guide, number: index + 1, shown, how: howToTry(guide, block) }];
    });
  });

function howToTry(guide: string, { title, language, note }: Block): GuideBlock['how'] {
  if (NOT_RUN.test(note)) return 'not run';
  if (guide === 'clients' && ELSEWHERE.test(note)) return 'elsewhere';
  if (note === '' && RUN.includes(language)) return 'run';
  if (note === '' && READ.includes(language)) return 'read';
  throw new Error(
    `${guide}.md, ${title}: nobody tries a block of ${language} ${note}. Say "not run: " and why.`,
  );
}

/** Whether an output is what a guide shows: its lines in that order, others may stand between; `…` is anything. */
export function isShown(output: string, shown: string): boolean {
  const lines = output.split('\n');
  let from = 0;
  for (const line of shown.trimEnd().split('\n')) {
    const pattern = new RegExp(`^${line.split('…').map(escapeRegExp).join('.*')}\r?$`);
    const found = lines.findIndex((each, index) => index >= from && pattern.test(each));
    if (found === -1) return false;
    from = found + 1;
  }
  return true;
}

const escapeRegExp = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
