import { describe, expect, it } from 'vitest';
import { readyAnswer } from '../../api/market/ready-answer.ts';

const lengthSaid = (headers: readonly string[]): number =>
  Number(headers[headers.indexOf('content-length') + 1]);
const bytesSent = (body: string | Buffer): Buffer =>
  typeof body === 'string' ? Buffer.from(body, 'latin1') : body;

describe('an answer that is ready to be sent', () => {
  it.each([
    ['of digits and letters', '{"asks":[]}'],
    ['as large as candles of a thousand intervals', `{"candles":"${'1'.repeat(130_000)}"}`],
    ['with a name beyond ASCII', '{"name":"crédit €"}'],
  ])('%s is sent byte by byte as it was written, with its length', (_, text) => {
    const { body, headers } = readyAnswer(text);
    expect(bytesSent(body).toString('utf8')).toBe(text);
    expect(lengthSaid(headers)).toBe(Buffer.byteLength(text));
  });

  it('goes out in one piece with its head where it is small, and without further copies where it is large', () => {
    expect(typeof readyAnswer('{"asks":[]}').body).toBe('string');
    expect(readyAnswer(' '.repeat(16_384)).body).toBeInstanceOf(Buffer);
  });
});
