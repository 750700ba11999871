import { imageLinkAt, type OwnFormat } from '#core/conversation/own-format.ts';
import { randomBase62 } from '#core/ids.ts';
import { isRecord } from '#core/is-record.ts';
import { parseJson } from '#core/parse-json.ts';
import { MemberChanges, memberBytes, rebuildJsonObject, scanJsonObject } from '../json/json-object.ts';
import { NumberMarks } from '../json/number-marks.ts';

export interface LoadedImage {
  contentType: string;
  bytes: Buffer;
}

/**
 * Puts images in the places of the links to them, in a request of any format. Members without an image pass as they
 * were, and megabytes of base64 are never printed as JSON.
 *
 * @param writeOwn Of a format of a kind's own: what stands there for an image. `null`: the request is in one of the three formats.
 */
export function writeImages(
  body: Buffer,
  images: ReadonlyMap<string, LoadedImage>,
  writeOwn: OwnFormat['writeImage'] = null,
): Buffer {
  const object = scanJsonObject(body);
  if (typeof object === 'string') throw new Error(`A request of ours is no JSON: ${object}`);
  const places = new Places(images, writeOwn);
  const marks = new NumberMarks();
  const changes = new MemberChanges();
  const keys = writeOwn === null ? MEMBERS_WITH_IMAGES : object.members.map(({ key }) => key);
  for (const key of keys) {
    const bytes = memberBytes(object, key);
    if (bytes === undefined) continue;
    const { value } = marks.parse(bytes) ?? { value: parseJson(bytes.toString('utf8')) };
    if (typeof value === 'object' && value !== null) changes.set(key, marks.print(places.fill(value)));
  }
  const text = rebuildJsonObject(object, changes);
  // An image of an earlier answer may have been left out for this server. Any other link would be followed from where it stands.
  const followed = [...images.keys()].some(
    (link) => !places.filled.has(link) && text.includes(JSON.stringify(link).slice(1, -1)),
  );
  if (followed) throw new Error('An image of a request has no place in it.');
  return places.write(text);
}

/** Of the three formats, and of orders of images. */
const MEMBERS_WITH_IMAGES = ['messages', 'input', 'system', 'input_references'];
const INDEX_CHARS = 6;

class Places {
  readonly filled = new Set<string>();
  readonly #images: ReadonlyMap<string, LoadedImage>;
  readonly #writeOwn: OwnFormat['writeImage'];
  /** Nobody can guess it, so no text of the caller's is taken for an image's place. */
  readonly #mark = randomBase62(24);
  readonly #order: Buffer[] = [];

  constructor(images: ReadonlyMap<string, LoadedImage>, writeOwn: OwnFormat['writeImage']) {
    this.#images = images;
    this.#writeOwn = writeOwn;
  }

  fill(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((each) => this.fill(each));
    if (!isRecord(value)) return value;
    if (this.#writeOwn !== null) return this.#fillOwn(value, this.#writeOwn);
    const ofMessages = value.type === 'image' && isRecord(value.source) && value.source.type === 'url';
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => {
        if (key === 'image_url') return [key, this.#dataUrl(member)];
        if (key === 'images' && Array.isArray(member)) return [key, member.map((each) => this.#image(each))];
        if (key === 'source' && ofMessages) return [key, this.#source(member)];
        // Of a tool: what a model wrote.
        return [key, key === 'input' ? member : this.fill(member)];
      }),
    );
  }

  #fillOwn(value: Record<string, unknown>, write: NonNullable<OwnFormat['writeImage']>): unknown {
    const image = this.#find(imageLinkAt(value));
    if (image !== null) return write(image.contentType, this.#place(image));
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, this.fill(member)]));
  }

  #image(value: unknown): unknown {
    return typeof value === 'string' ? this.#dataUrl(value) : this.fill(value);
  }

  #dataUrl(value: unknown): unknown {
    if (isRecord(value)) return { ...value, url: this.#dataUrl(value.url) };
    const image = this.#find(value);
    return image === null ? value : `data:${image.contentType};base64,${this.#place(image)}`;
  }

  #source(value: unknown): unknown {
    const image = isRecord(value) ? this.#find(value.url) : null;
    return image === null
      ? value
      : { type: 'base64', media_type: image.contentType, data: this.#place(image) };
  }

  #find(link: unknown): LoadedImage | null {
    const image = typeof link === 'string' ? this.#images.get(link) : undefined;
    if (typeof link !== 'string' || image === undefined) return null;
    this.filled.add(link);
    return image;
  }

  #place({ bytes }: LoadedImage): string {
    const index = this.#order.push(bytes) - 1;
    return this.#mark + String(index).padStart(INDEX_CHARS, '0');
  }

  write(text: Buffer): Buffer {
    const parts: Buffer[] = [];
    let from = 0;
    for (let at = text.indexOf(this.#mark); at >= 0; at = text.indexOf(this.#mark, from)) {
      const indexAt = at + this.#mark.length;
      const index = Number(text.toString('latin1', indexAt, indexAt + INDEX_CHARS));
      parts.push(
        text.subarray(from, at),
        Buffer.from((this.#order[index] ?? Buffer.alloc(0)).toString('base64')),
      );
      from = indexAt + INDEX_CHARS;
    }
    return Buffer.concat([...parts, text.subarray(from)]);
  }
}
