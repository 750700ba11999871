/** Finds the names most like a wrong one, best first, at most three. */
export type NearestNames = (wanted: string) => string[];

const NAMES_MAX = 3;
/**
 * Work is (pairs of the wanted text) × (names that hold a pair), so the wanted text is cut before all else.
 */
const WANTED_CHARS_MAX = 64;
const LIKENESS_MIN = 0.4;

interface Form {
  nameIndex: number;
  pairs: number;
}

/**
 * Compares by pairs of neighbouring letters (Dice's coefficient), which costs less than an edit distance over
 * thousands of ids and also forgives swapped and missing parts. A name with slashes is compared whole and by
 * its last part, so `gpt-4o` finds `openai/gpt-4o`. The index is made at the first miss.
 */
export function createNearestNames(names: readonly string[]): NearestNames {
  let index: Index | null = null;
  return (wanted) => {
    index ??= makeIndex(names);
    return bestNames(names, likeness(index, names.length, wanted));
  };
}

interface Index {
  forms: Form[];
  formsByPair: Map<string, number[]>;
}

function makeIndex(names: readonly string[]): Index {
  const forms: Form[] = [];
  const formsByPair = new Map<string, number[]>();
  names.forEach((name, nameIndex) => {
    for (const text of new Set([name, lastPart(name)])) {
      const pairs = pairsOf(text);
      const form = forms.push({ nameIndex, pairs: pairs.size }) - 1;
      for (const pair of pairs) {
        const known = formsByPair.get(pair);
        if (known === undefined) formsByPair.set(pair, [form]);
        else known.push(form);
      }
    }
  });
  return { forms, formsByPair };
}

function likeness(index: Index, names: number, wanted: string): Float64Array {
  const best = new Float64Array(names);
  const pairs = pairsOf(wanted.slice(0, WANTED_CHARS_MAX));
  const shared = new Uint16Array(index.forms.length);
  for (const pair of pairs) {
    for (const form of index.formsByPair.get(pair) ?? []) shared[form] = (shared[form] ?? 0) + 1;
  }
  index.forms.forEach((form, at) => {
    const score = (2 * (shared[at] ?? 0)) / (form.pairs + pairs.size);
    if (score > (best[form.nameIndex] ?? 0)) best[form.nameIndex] = score;
  });
  return best;
}

function bestNames(names: readonly string[], scores: Float64Array): string[] {
  const found = names.flatMap((name, at) => {
    const score = scores[at] ?? 0;
    return score >= LIKENESS_MIN ? [{ name, score }] : [];
  });
  found.sort((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1));
  return found.slice(0, NAMES_MAX).map((each) => each.name);
}

const lastPart = (name: string): string => name.slice(name.lastIndexOf('/') + 1);

/** The blanks at both ends make the first and the last letter count as much as the others. */
function pairsOf(text: string): Set<string> {
  const padded = ` ${text.toLowerCase()} `;
  const pairs = new Set<string>();
  for (let at = 0; at + 1 < padded.length; at++) pairs.add(padded.slice(at, at + 2));
  return pairs;
}
