import { describe, expect, it } from 'vitest';
import { GATE_BUFFER_BYTES } from '#core/limits.ts';
import { CallerSide } from '../../api/inference/hold/caller-side.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { FakeResponse, fakeCaller } from './fake-ends.ts';

const head = { 'content-type': 'text/event-stream' };
const bytes = (text: string) => Buffer.from(text);

describe('the gate', () => {
  it('lets nothing out before it is open, the status included', () => {
    const { res, caller, heard } = fakeCaller({ gateOpen: false });
    caller.begin(head);
    expect(caller.write(bytes('a'))).toBe(true);
    expect(caller.committed).toBe(true);
    expect([res.status, res.text, heard]).toEqual([null, '', []]);
    caller.openGate();
    expect([res.status, res.head, res.text]).toEqual([200, head, 'a']);
    expect(heard).toEqual(['begins', 'resumed']);
  });

  it('opened early sends no head by itself: the status may still change', () => {
    const { res, caller } = fakeCaller();
    expect([res.status, caller.committed]).toEqual([null, false]);
    caller.begin(head);
    expect([res.status, caller.committed]).toEqual([200, true]);
  });

  it('lets no early head out before it is open, and the answer begins behind an early head once', () => {
    const { res, caller, heard } = fakeCaller({ gateOpen: false });
    caller.beginEarly(head);
    caller.keepAlive();
    expect([res.status, caller.headSent]).toEqual([null, false]);
    caller.openGate();
    caller.beginEarly(head);
    caller.beginEarly(head);
    expect([res.status, caller.committed, heard]).toEqual([200, false, []]);
    caller.begin({ 'x-other': 'too late' });
    expect([res.head, caller.committed, heard]).toEqual([head, true, ['begins']]);
  });

  it('keeps at most 64 KiB and one piece', () => {
    const { caller } = fakeCaller({ gateOpen: false });
    caller.begin(head);
    expect(caller.write(Buffer.alloc(GATE_BUFFER_BYTES - 1))).toBe(true);
    expect(caller.write(Buffer.alloc(1))).toBe(false);
  });

  it('forgets what waited when somebody else answers', () => {
    const { res, caller } = fakeCaller({ gateOpen: false });
    caller.begin(head);
    caller.write(bytes('secret'));
    caller.discard();
    expect(caller.committed).toBe(false);
    caller.openGate();
    expect([res.status, res.text]).toEqual([null, '']);
  });

  it('says only then that more may come when the reader takes it', () => {
    const { res, caller, heard } = fakeCaller({ gateOpen: false });
    caller.begin(head);
    caller.write(bytes('a'));
    res.flowing = false;
    caller.openGate();
    expect(heard).toEqual(['begins']);
    expect(caller.blockedSinceMs).toBe(1_000);
    res.emit('drain');
    expect(heard).toEqual(['begins', 'resumed']);
  });
});

describe('a reader', () => {
  it('who is slow is known to be, since the first byte that waits', () => {
    const { res, caller, clock } = fakeCaller();
    caller.begin(head);
    res.flowing = false;
    expect(caller.write(bytes('a'))).toBe(false);
    clock.advance(500);
    caller.write(bytes('b'));
    expect(caller.blockedSinceMs).toBe(1_000);
    res.flowing = true;
    res.emit('drain');
    expect(caller.blockedSinceMs).toBeNull();
  });

  it('who hangs up is heard once, and nothing is written after', () => {
    const { res, caller, heard } = fakeCaller();
    caller.begin(head);
    caller.write(bytes('a'));
    res.hangUp();
    caller.closed();
    expect(heard).toEqual(['begins', 'gone']);
    expect(caller.gone).toBe(true);
    expect(caller.write(bytes('b'))).toBe(true);
    caller.keepAlive();
    caller.end(bytes('c'));
    expect([res.text, res.ended]).toEqual(['a', false]);
  });

  it('who hangs up at the gate gets nothing when it opens', () => {
    const { res, caller, heard } = fakeCaller({ gateOpen: false });
    caller.begin(head);
    caller.write(bytes('a'));
    res.hangUp();
    caller.openGate();
    expect([res.status, res.text, heard]).toEqual([null, '', ['gone']]);
  });

  it('who had gone before the call began is known to have', () => {
    const res = new FakeResponse();
    res.hangUp();
    const events = { callerGone() {}, callerResumed() {}, answerBegins() {} };
    const caller = new CallerSide(res, events, createFakeClock());
    expect(caller.gone).toBe(true);
    caller.openGate();
    caller.begin(head);
    caller.end(bytes('a'));
    expect([res.status, res.ended]).toEqual([null, false]);
  });

  it('who takes nothing for too long is dropped', () => {
    const { res, caller, heard } = fakeCaller();
    caller.begin(head);
    caller.drop();
    caller.drop();
    expect([res.destroyed, caller.gone]).toEqual([true, true]);
    expect(heard).toEqual(['begins', 'gone']);
  });

  it('who got all has not hung up: the close after a whole answer is none', () => {
    const { res, caller, heard } = fakeCaller();
    caller.begin(head);
    caller.end(bytes('a'));
    res.emit('close');
    expect([caller.gone, heard, res.ended]).toEqual([false, ['begins'], true]);
  });
});

describe('a sign of life', () => {
  it('goes between events, to a reader who takes bytes', () => {
    const { res, caller } = fakeCaller();
    caller.begin(head);
    caller.keepAlive();
    expect(res.text).toBe(': keep-alive\n\n');
    res.flowing = false;
    caller.write(bytes('a'));
    caller.keepAlive();
    expect(res.text).toBe(': keep-alive\n\na');
  });

  it('never goes before the gate is open', () => {
    const { res, caller } = fakeCaller({ gateOpen: false });
    caller.begin(head);
    caller.keepAlive();
    expect([res.status, res.text]).toEqual([null, '']);
  });

  it('who is left is heard no more', () => {
    const { res, caller, heard } = fakeCaller();
    caller.begin(head);
    res.flowing = false;
    caller.write(bytes('a'));
    caller.leave();
    res.emit('drain');
    res.hangUp();
    expect([heard, caller.gone]).toEqual([['begins'], false]);
  });
});

it('tells a call that has left nothing of the end that it makes itself', () => {
  const { caller, heard, res } = fakeCaller();
  caller.leave();
  caller.drop();
  expect([res.destroyed, caller.gone, heard]).toEqual([true, false, []]);
});
