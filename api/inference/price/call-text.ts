import { isRecord } from '#core/is-record.ts';
import { plainNumber } from '../json/exact-json.ts';
import { JsonScan } from '../json/json-scan.ts';
import { CallArguments, type ComparedText } from './call-arguments.ts';
import { joinedName } from './call-name.ts';

/** One call of a tool. Its arguments count as compact JSON, because only some formats keep the blanks that a model wrote. */
export class CallText {
  /** Empty: its server has not told one. */
  id = '';
  readonly #addBytes: (bytes: number) => void;
  readonly #streamed: CallArguments;
  /** The bytes of the part of its arguments that waits for the next piece. */
  #waitingBytes = 0;
  #bytes = 0;
  #name = '';
  #nameBytes = 0;
  #jsonBytes = 0;
  readonly #scan = new JsonScan();
  /** The bytes of the input that a call begins with. Its pieces may say it again, so the longer of the two counts. */
  #initialBytes = 0;

  /** @param addBytes Learns by how much each change makes the call longer. */
  constructor(addBytes: (bytes: number) => void, compared: ComparedText) {
    this.#addBytes = addBytes;
    this.#streamed = new CallArguments(compared);
  }

  /** Whether a piece under the key of this call begins another: some servers give all calls one number. */
  begins({ id, function: called }: Readonly<Record<string, unknown>>): boolean {
    const isNamed = isRecord(called) && textOf(called.name) !== '';
    return isNamed && this.id !== '' && textOf(id) !== '' && id !== this.id;
  }

  /** Some servers repeat it in every piece, and others send it in pieces. */
  name(text: unknown): void {
    if (typeof text !== 'string') return;
    const name = joinedName(this.#name, text, this.#jsonBytes > 0);
    if (name === this.#name) return;
    // The whole name is measured only where it replaces the one before, so a name in pieces takes linear time.
    this.#nameBytes =
      name.length === this.#name.length + text.length
        ? this.#nameBytes + Buffer.byteLength(text)
        : Buffer.byteLength(name);
    this.#name = name;
    this.#count();
  }

  initial(input: unknown): void {
    if (isStructure(input)) this.#initialBytes = Buffer.byteLength(compactJson(input));
    else if (typeof input === 'string') this.#initialBytes = Buffer.byteLength(input);
    this.#count();
  }

  arguments(json: unknown): void {
    if (isStructure(json)) this.#jsonBytes += Buffer.byteLength(compactJson(json));
    else if (typeof json === 'string') this.#jsonBytes += Buffer.byteLength(json) - this.#scan.add(json);
    this.#count();
  }

  /** A piece of arguments of which a server may have sent a part already, so not all of it is shown. */
  argumentsOnce(json: unknown, beginsCall: boolean): void {
    if (isStructure(json)) this.arguments(this.#streamed.add(compactJson(json), beginsCall));
    else if (typeof json === 'string') this.arguments(this.#streamed.add(json, beginsCall));
    this.#waitingBytes = Buffer.byteLength(this.#streamed.rest);
    this.#count();
  }

  #count(): void {
    const json = Math.max(this.#initialBytes, this.#jsonBytes + this.#waitingBytes);
    // Empty arguments are written as nothing, as `{}` or as an empty text.
    const bytes = this.#nameBytes + (json === EMPTY_JSON_BYTES ? 0 : json);
    this.#addBytes(bytes - this.#bytes);
    this.#bytes = bytes;
  }
}

/** Some servers write the value in the place of its text. */
const isStructure = (json: unknown): boolean => isRecord(json) || Array.isArray(json);

/** Without the digits that only some readers keep, so that all of them count the same. */
const compactJson = (value: unknown): string =>
  JSON.stringify(value, (_name, member: unknown) => plainNumber(member));

const EMPTY_JSON_BYTES = '{}'.length;

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
