import { describe, expect, it } from 'vitest';
import { createLog, type LogFields } from '#core/log.ts';

/** All that was written, and the last line read back. */
function logged(write: (log: ReturnType<typeof createLog>) => void) {
  const lines: string[] = [];
  write(createLog({ write: (line) => void lines.push(line) }));
  const text = lines.join('');
  return { text, last: JSON.parse(text.trimEnd().split('\n').at(-1) ?? '') };
}

const secrets = [
  'fg_0123456789abcdefghijklmnopqrstuv123456',
  'Bearer abc.def-ghi',
  'bearer abc',
  'Basic dXNlcjpwYXNz',
  'sk-or-v1-0123456789abcdef',
  'sk-proj-abcdefgh',
  'gsk_abcdefgh12345678',
  'hf_abcdefgh1234',
  'AIzaSyA0123456789abcdefghijkl',
  'https://user:hunter2@example.com/',
  'https://s3.example.com/a?X-Amz-Signature=0123abcd&x=1',
  'api_key=topsecret',
  '"api-key": "topsecret"',
];
const hidden =
  /0123456789ab|abc\.def|dXNl|v1-0123|proj-abc|gsk_abc|hf_abc|AIzaSy|hunter2|0123abcd|topsecret|bearer abc/;

describe('the log', () => {
  it('is one line an event, with the time, the event and its fields', () => {
    const { text, last } = logged((log) =>
      log.warn('a thing happened', { agentId: 7, code: 'x', durationMs: 1.5 }),
    );
    expect(text.split('\n')).toHaveLength(2);
    expect(last).toMatchObject({ event: 'a thing happened', agentId: 7, code: 'x', durationMs: 1.5 });
    expect(Number.isNaN(Date.parse(last.time))).toBe(false);
  });

  it.each(secrets)('never shows a secret, wherever it is planted: %s', (secret) => {
    const error = new Error(`with ${secret} inside`, { cause: new Error(secret) });
    const { text } = logged((log) => {
      log.info(`event ${secret}`);
      log.warn('event', { cause: secret, path: `/x?${secret}`, address: secret, code: secret, usd: secret });
      log.error('event', { error });
    });
    expect(text).toContain('[secret]');
    expect(text).not.toMatch(hidden);
  });

  it('has no field for a body, a prompt or a header, not even for a record that brings them along', () => {
    const record = {
      agentId: 7,
      prompt: 'my diary',
      body: { a: 'my diary' },
      headers: { cookie: 'my diary' },
    };
    const { text, last } = logged((log) => log.info('event', record));
    expect(last.agentId).toBe(7);
    expect(text).not.toContain('diary');
  });

  it('leaves out what is no plain value', () => {
    const odd = JSON.parse('{"cause":{"a":"my diary"},"__proto__":{"path":"my diary"}}');
    expect(logged((log) => log.info('event', odd)).text).not.toContain('diary');
  });

  it('tells what went wrong and where, but not what it went wrong about', () => {
    const { last } = logged((log) => log.error('event', { error: new TypeError('no such thing') }));
    expect(last.error).toBe('TypeError: no such thing');
    expect(last.stack).toMatch(/^at .*log\.test\.ts/);
    expect(last.stack).not.toContain('no such thing');
  });

  it.each<[string, () => unknown]>([
    ['JSON.parse', () => JSON.parse('my diary')],
    ['JSON.parse, further on', () => JSON.parse('{"messages": "my diary')],
    ['BigInt', () => BigInt('my diary')],
    [
      'a thrown text',
      () => {
        throw 'my diary';
      },
    ],
    [
      'a thrown record',
      () => {
        throw { prompt: 'my diary' };
      },
    ],
  ])('does not read back the input that %s could not take', (_what, fail) => {
    const { text } = logged((log) => {
      try {
        fail();
      } catch (error) {
        log.error('event', { error });
      }
    });
    expect(text).toContain('"error"');
    expect(text).not.toContain('diary');
  });

  it('survives errors without a stack', () => {
    const error = new Error('bare');
    delete error.stack;
    const fields: LogFields = { error };
    expect(logged((log) => log.error('event', fields)).last.error).toBe('Error: bare');
  });
});
