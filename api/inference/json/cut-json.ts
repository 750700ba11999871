/**
 * The JSON that a cut text had come to: what was begun last is left out, and what is open is closed, so `{"a":1,"b":"x` is `{"a":1}`.
 * Official SDKs show the arguments of a cut call so. `null`: the text is no beginning of JSON. Escapes and all numbers
 * but one at its end are not checked.
 */
export function wholePartOf(json: string): string | null {
  const closing: string[] = [];
  /** Behind the last value that is whole, or the last bracket that was opened. */
  let end = 0;
  let next: Next = 'value';
  for (let at = 0; at < json.length; ) {
    const letter = json[at] ?? '';
    if (BLANKS.has(letter)) at++;
    else if (next === 'value' || (next === 'item or end' && letter !== ']')) {
      if (letter === '{' || letter === '[') {
        closing.push(letter === '{' ? '}' : ']');
        next = letter === '{' ? 'key or end' : 'item or end';
        at++;
      } else {
        const valueEnd = endOfScalar(json, at);
        if (valueEnd === null) return null;
        if (valueEnd === CUT) break;
        next = 'comma or end';
        at = valueEnd;
      }
      end = at;
    } else if (letter === '"' && (next === 'key' || next === 'key or end')) {
      const keyEnd = endOfText(json, at);
      if (keyEnd === CUT) break;
      next = 'colon';
      at = keyEnd;
    } else if (letter === ':' && next === 'colon') {
      next = 'value';
      at++;
    } else if (letter === ',' && next === 'comma or end' && closing.length > 0) {
      next = closing.at(-1) === '}' ? 'key' : 'value';
      at++;
    } else if (letter === closing.at(-1) && MAY_END.has(next)) {
      closing.pop();
      next = 'comma or end';
      at++;
      end = at;
    } else return null;
  }
  return json.slice(0, end) + closing.reverse().join('');
}

type Next = 'value' | 'item or end' | 'key' | 'key or end' | 'colon' | 'comma or end';
const MAY_END: ReadonlySet<Next> = new Set<Next>(['item or end', 'key or end', 'comma or end']);

const BLANKS: ReadonlySet<string> = new Set([' ', '\n', '\r', '\t']);
const LITERALS = ['true', 'false', 'null'];
/** The text ends before the value does. */
const CUT = -1;

/** `null`: no value begins so. */
function endOfScalar(json: string, from: number): number | null {
  if (json[from] === '"') return endOfText(json, from);
  const end = endOfRun(json, from);
  const word = json.slice(from, end);
  if (LITERALS.includes(word)) return end;
  if (end < json.length) return NUMBER_BEGIN.test(word) ? end : null;
  return CUT_NUMBER.test(word) || LITERALS.some((literal) => literal.startsWith(word)) ? CUT : null;
}

const NUMBER_BEGIN = /^-?\d/;
/** Every number that was cut looks like this. Official SDKs leave out one that no JSON has, such as `007`, too. */
const CUT_NUMBER = /^-?(?:\d[\d.]*(?:[eE][+-]?[\d.]*)*)?$/;

/** Behind the letters, digits and signs of a number or a name. */
function endOfRun(json: string, from: number): number {
  let at = from;
  while (at < json.length && RUN_LETTER.test(json[at] ?? '')) at++;
  return at;
}

const RUN_LETTER = /[\w.+-]/;

/** Behind the closing quote. */
function endOfText(json: string, from: number): number {
  for (let at = from + 1; at < json.length; at++) {
    if (json[at] === '"') return at + 1;
    if (json[at] === '\\') at++;
  }
  return CUT;
}
