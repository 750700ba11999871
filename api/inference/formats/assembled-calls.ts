import { isRecord } from '#core/is-record.ts';
import { joinedName } from '../price/call-name.ts';
import { CallIds } from './call-ids.ts';
import { CallNumbers, readCallPiece } from './call-numbers.ts';
import { mergeDelta } from './merge-delta.ts';
import { recordOf, textOf } from './values.ts';
import { wholeCall } from './whole-choices.ts';

type Call = Record<string, unknown>;

/** The tool calls of one choice of a chat, put together from their pieces. */
export class AssembledCalls {
  readonly #calls: Call[] = [];
  /** Those that are something, in the order in which they came to be. */
  readonly #begun = new Set<Call>();
  readonly #numbers = new CallNumbers();

  /** @param isLast The answer ends with the piece. */
  add(call: Readonly<Call>, isLast: boolean): void {
    const piece = readCallPiece(call);
    const { index: _, function: given, custom, ...rest }: Call = call;
    const { number, json } = this.#numbers.add(piece, { isLast });
    const known = this.#calls[number] ?? {};
    this.#calls[number] = known;
    // Its id is the one that it began with.
    if (textOf(known.id) !== '') delete rest.id;
    const [body, text] = isRecord(custom) ? CUSTOM : FUNCTION;
    const { arguments: _arguments, input: _input, ...inner } = recordOf(custom ?? given);
    const begun = recordOf(known[body]);
    if (piece.name !== '')
      inner.name = joinedName(textOf(begun.name), piece.name, textOf(begun[text]) !== '');
    if (isRecord(custom ?? given)) mergeDelta(rest, { [body]: { ...inner, [text]: json } });
    mergeDelta(known, rest);
    if (isSomething(known)) this.#begun.add(known);
  }

  /** @param answerId For ids of calls that their server gives none. */
  whole(answerId: string): Call[] {
    const ids = new CallIds();
    for (const [number, call] of this.#calls.entries()) {
      const rest = this.#numbers.restOf(number);
      const [body, text] = isRecord(call.custom) ? CUSTOM : FUNCTION;
      if (rest !== '') mergeDelta(call, { [body]: { [text]: rest } });
    }
    return Array.from(this.#begun, (call, number) =>
      wholeCall(call, ids.idOf(textOf(call.id), answerId, number)),
    );
  }
}

/** The members that the name and the text of a call stand in. */
const FUNCTION = ['function', 'arguments'] as const;
const CUSTOM = ['custom', 'input'] as const;

/** A call that has neither name nor arguments is none: some servers send a last piece of nothing under an id of its own. */
function isSomething({ type, function: called, custom }: Readonly<Call>): boolean {
  if (isRecord(custom) || (textOf(type) !== '' && type !== 'function')) return true;
  const { name, arguments: given } = recordOf(called);
  return textOf(name) !== '' || textOf(given) !== '';
}
