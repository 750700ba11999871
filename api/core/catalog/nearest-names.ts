/** Finds the names most like a wrong one, best first, at most three. */
export type NearestNames = (wanted: string) => string[];

const NAMES_MAX = 3;
/**
 * Work is (pairs of the wanted text) × (names that hold a pair), so the wanted text is cut before all else.
 */
const WANTED_CHARS_MAX = 64;
const LIKENESS_MIN = 0.4;

interface Form {
  name: string;
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
    const found = [...likeness(index, wanted)].sort(([a, ofA], [b, ofB]) => ofB - ofA || (a < b ? -1 : 1));
    return found.slice(0, NAMES_MAX).map(([name]) => name);
  };
}

interface Index {
  forms: Form[];
  formsByPair: Map<string, number[]>;
}

function makeIndex(names: readonly string[]): Index {
  const forms: Form[] = [];
  const formsByPair = new Map<string, number[]>();
  for (const name of names) {
    for (const text of new Set([name, lastPart(name)])) {
      const pairs = pairsOf(text);
      const form = forms.push({ name, pairs: pairs.size }) - 1;
      for (const pair of pairs) {
        const known = formsByPair.get(pair);
        if (known === undefined) formsByPair.set(pair, [form]);
        else known.push(form);
      }
    }
  }
  return { forms, formsByPair };
}

/** The names that are like enough, by their better form. */
function likeness({ forms, formsByPair }: Index, wanted: string): Map<string, number> {
  const pairs = pairsOf(wanted.slice(0, WANTED_CHARS_MAX));
  const shared = new Uint16Array(forms.length);
  for (const pair of pairs) {
    for (const form of formsByPair.get(pair) ?? []) shared[form] = (shared[form] ?? 0) + 1;
  }
  const best = new Map<string, number>();
  for (const [at, { name, pairs: own }] of forms.entries()) {
    const score = (2 * (shared[at] ?? 0)) / (own + pairs.size);
    if (score >= LIKENESS_MIN) best.set(name, Math.max(score, best.get(name) ?? 0));
  }
  return best;
}

const lastPart = (name: string): string => name.slice(name.lastIndexOf('/') + 1);

/** The blanks at both ends make the first and the last letter count as much as the others. */
function pairsOf(text: string): Set<string> {
  const padded = ` ${text.toLowerCase()} `;
  const pairs = new Set<string>();
  for (let at = 0; at + 1 < padded.length; at++) pairs.add(padded.slice(at, at + 2));
  return pairs;
}
