import { CHOICES_MAX } from '#core/limits.ts';
import { plainNumber } from '../json/exact-json.ts';
import { endWordOf } from './end-words.ts';

type Choice = Readonly<Record<string, unknown>>;

/** Tells whether the choices of a chat stream have ended. Some servers neither count nor mark an end, but say why the answer ends. */
export class ChoiceEnds {
  readonly #begun = new Set<number>();
  readonly #ended = new Set<number>();

  note(choice: Choice): void {
    const index = choiceIndexOf(choice);
    this.#begun.add(index);
    if (endWordOf(choice.finish_reason) !== '') this.#ended.add(index);
  }

  /** Whether the server has begun a choice, and has ended each that it has begun. */
  get areAll(): boolean {
    return this.#begun.size > 0 && this.#begun.size === this.#ended.size;
  }
}

/** A server that numbers no choices has one, as one has whose number no request can ask for. */
export function choiceIndexOf({ index }: Choice): number {
  const number = plainNumber(index);
  const isAsked = typeof number === 'number' && Number.isSafeInteger(number) && number >= 0;
  return isAsked && number < CHOICES_MAX ? number : 0;
}
