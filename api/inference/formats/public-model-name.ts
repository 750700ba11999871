import { parseJson } from '#core/parse-json.ts';
import {
  answerBounds,
  type JsonObject,
  MemberChanges,
  rebuildJsonObject,
  scanJsonObject,
} from '../json/json-object.ts';
import { CHOICES_NEEDLE } from './stream-text.ts';

/** The beginning of a chunk up to the end of its model, as it came and as it is shown. */
interface Beginning {
  sent: Buffer;
  shown: Buffer;
}

/**
 * Writes the caller's own name of a model in the place of the provider's. It counts at the top level only, so a chunk is scanned unless
 * it begins with the same bytes as one that was.
 */
export class PublicModelName {
  readonly #upstreamModel: string;
  readonly #shownName: Buffer;
  #beginning: Beginning | null = null;

  constructor(upstreamModel: string, publicModel: string) {
    this.#upstreamModel = upstreamModel;
    this.#shownName = Buffer.from(JSON.stringify(publicModel));
  }

  shownIn(chunk: Buffer): Buffer {
    const known = this.#beginning;
    if (known !== null && beginsWith(chunk, known.sent) && chunk.indexOf(MODEL, known.sent.length) < 0)
      return Buffer.concat([known.shown, chunk.subarray(known.sent.length)]);
    const object = chunk.indexOf(MODEL) < 0 ? 'not_an_object' : scanJsonObject(chunk, answerBounds);
    if (typeof object === 'string' || !namesModel(object, this.#upstreamModel)) return chunk;
    const model = object.members.find(({ key }) => key === 'model');
    if (model !== undefined && model.endsAt < chunk.indexOf(CHOICES_NEEDLE)) {
      const { valueStartsAt, endsAt } = model;
      const shown = Buffer.concat([chunk.subarray(0, valueStartsAt), this.#shownName]);
      this.#beginning = { sent: Buffer.from(chunk.subarray(0, endsAt)), shown };
    }
    return rebuildJsonObject(object, new MemberChanges([['model', this.#shownName]]));
  }
}

/** Whether an answer says at its top level that this model made it. A name may stand twice, and be written with escapes. */
export const namesModel = ({ bytes, members }: JsonObject, model: string): boolean =>
  members.some(
    ({ key, valueStartsAt, endsAt }) =>
      key === 'model' && parseJson(bytes.toString('utf8', valueStartsAt, endsAt)) === model,
  );

const MODEL = Buffer.from('"model"');

const beginsWith = (bytes: Buffer, beginning: Buffer): boolean =>
  bytes.length > beginning.length && bytes.compare(beginning, 0, beginning.length, 0, beginning.length) === 0;
