import type { AnswerPiece } from './answer-piece.ts';
import type { AskedModel, Conversation } from './conversation.ts';

/**
 * A wire format that one kind of provider speaks alone. Whatever format a caller speaks, the request becomes a conversation, which
 * `write` turns into a body, and the answer becomes pieces, which the caller's format shows.
 */
export interface OwnFormat {
  /**
   * Returns the whole body. A setting that has no place in it is left out and named to the caller (`unsupported.leaveOut`). A part of
   * the conversation that has none is a reason to ask no provider of this kind (`unsupported.add`).
   */
  write(conversation: Conversation, asked: AskedModel, unsupported: NamedFields): object;
  /**
   * Returns what stands in the body for an image: `write` puts an `imagePlace` there, because images are loaded only once the call is
   * held. `null`: no image has a place, and `write` names every one to `unsupported`.
   */
  readonly writeImage: ((contentType: string, base64: string) => unknown) | null;
  /** Opens the reader of one answer. Every answer is asked for as a stream. */
  openReader(): OwnReader;
}

const IMAGE_PLACE = 'image_place';

/** The place of the image behind a link, in a body that `OwnFormat.write` returns. */
export const imagePlace = (link: string): object => ({ [IMAGE_PLACE]: link });

/** The link whose image belongs here; `null`: this is no place of an image. */
export function imageLinkAt(value: Readonly<Record<string, unknown>>): string | null {
  const link = value[IMAGE_PLACE];
  return typeof link === 'string' ? link : null;
}

export interface NamedFields {
  /**
   * @param param The field's place, such as `messages[0].name`: `at` in the conversation.
   * Refuses the call for this kind.
   * @param words What the field is, if its place does not say enough.
   */
  add(param: string, words?: string): void;
  /** Names a field that is left out of the body without a change of its meaning. */
  leaveOut(param: string): void;
}

/** Reads the events of one stream in order. A kind whose streams are not server-sent events turns them into events in its adapter. */
export interface OwnReader {
  /** @param name The event's own name; empty if it has none. */
  read(event: Readonly<Record<string, unknown>>, name: string): OwnEvent;
}

export interface OwnEvent {
  pieces: readonly AnswerPiece[];
  /**
   * The tokens counted so far, under names that `api/providers/usage-fields.ts` lists for chats. `null`: the event counts none. An
   * error is never an event of this kind: the adapter writes it as `{"error":{"message":…}}`.
   */
  usage: object | null;
  /** The answer is complete. */
  isLast: boolean;
}
