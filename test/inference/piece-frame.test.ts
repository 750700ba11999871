import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseRecord } from '../../api/inference/json/parse-record.ts';
import { standsAt } from '../../api/inference/json/stands-at.ts';
import { changingAt, PieceFrame } from '../../api/inference/price/piece-frame.ts';

/* Most pieces of a stream are read by the bytes of an earlier one, and what is read is what parsing would give. */

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.constantFrom('', '"', '\\', '\n', 'usage', '","sequence_number":7,"delta":"', '\u2028', '\ud83d'),
);
const others = { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, content_index: 0 };

interface Piece {
  delta: string;
  number: number;
  padding: string | null;
}

const piece: fc.Arbitrary<Piece> = fc.record({
  delta: text,
  number: fc.nat(),
  padding: fc.option(text),
});

/** The members of a piece, in an order of its server's own. */
const written = ({ delta, number, padding }: Piece, order: readonly string[], blank: string): Buffer => {
  const members: Record<string, unknown> = { ...others, delta, sequence_number: number, logprobs: [] };
  if (padding !== null) members.obfuscation = padding;
  const names = order.filter((name) => members[name] !== undefined);
  return Buffer.from(
    `{${names.map((name) => `"${name}":${blank}${JSON.stringify(members[name])}`).join(`,${blank}`)}}`,
  );
};

const CHANGING = [changingAt('delta'), changingAt('sequence_number'), changingAt('obfuscation')];
const NAMES = [...Object.keys(others), 'delta', 'sequence_number', 'logprobs', 'obfuscation'];
const order = fc.shuffledSubarray(NAMES, { minLength: NAMES.length });
const blank = fc.constantFrom('', ' ');

describe('a piece of a response', () => {
  it('is read by the bytes of an earlier one as if it were parsed, whatever its text', () => {
    fc.assert(
      fc.property(piece, piece, order, blank, (first, next, names, between) => {
        const padded = { ...next, padding: first.padding === null ? null : (next.padding ?? '') };
        const data = written(first, names, between);
        const frame = PieceFrame.of(data, JSON.parse(data.toString()), CHANGING);
        const other = written(padded, names, between);
        expect(frame?.read(other)).toEqual(JSON.parse(other.toString()));
      }),
      { numRuns: 2_000 },
    );
  });

  it('is parsed where it differs in more, however little', () => {
    const data = written({ delta: 'word', number: 12, padding: 'x' }, NAMES, '');
    const frame = PieceFrame.of(data, JSON.parse(data.toString()), CHANGING);
    fc.assert(
      fc.property(
        fc.nat(data.length - 1),
        fc.nat(255),
        fc.constantFrom('changed', 'cut', 'added'),
        (at, byte, how) => {
          const rest = data.subarray(how === 'added' ? at : at + 1);
          const bytes = how === 'cut' ? [] : [byte];
          const other = Buffer.concat([data.subarray(0, at), Buffer.from(bytes), rest]);
          const read = frame?.read(other) ?? null;
          if (read !== null) expect(read).toEqual(parseRecord(other));
        },
      ),
      { numRuns: 5_000 },
    );
  });

  it.each([
    ['a member twice', '{"delta":"a","delta":"b"}'],
    ['a name with an escape', '{"delta":"a","\\u0064elta":"a"}'],
    ['a list in the place of its text', '{"delta":["a"]}'],
    ['a number with a fraction', '{"delta":"a","sequence_number":1.5}'],
    ['a number with an exponent', '{"delta":"a","sequence_number":0e5}'],
    ['a number beyond a float', '{"delta":"a","sequence_number":12345678901234567890}'],
  ])('with %s is no measure for others', (_, json) => {
    expect(PieceFrame.of(Buffer.from(json), JSON.parse(json), CHANGING)).toBe(null);
  });
});

it('bytes are found at their place alone, in parts of any length', () => {
  const bytes = Buffer.from(Array.from({ length: 1_000 }, (_, at) => at % 251));
  fc.assert(
    fc.property(fc.nat(999), fc.nat(400), fc.option(fc.nat(399)), (at, length, changedAt) => {
      const part = Buffer.from(bytes.subarray(at, at + length));
      const isChanged = changedAt !== null && changedAt < part.length;
      if (isChanged) part.writeUInt8((part.readUInt8(changedAt) + 1) % 256, changedAt);
      expect(standsAt(bytes, at, part)).toBe(!isChanged);
      if (part.length > 0) expect(standsAt(bytes, bytes.length - part.length + 1, part)).toBe(false);
    }),
  );
  expect(standsAt(bytes, -1, Buffer.from('a'))).toBe(false);
});
