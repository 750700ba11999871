import type { ServerResponse } from 'node:http';
import type { Rule } from './script-rule.ts';
import type { Stage } from './stage.ts';

/** What goes out in one write when no rule splits it. */
export interface Piece {
  /** Text where it can be: Node sends it together with the headers. */
  data: string | Buffer;
  /** Of the model's own text in it. */
  textBytes: number;
}

export interface Answer {
  status: number;
  headers: Record<string, string>;
  pieces: readonly Piece[];
  /** Repeated until the reader goes away, after the pieces. */
  endless: Piece | null;
}

export interface Delivery {
  state: 'answered' | 'cut' | 'hung_up';
  textBytes: number;
}

/** A whole answer in one go. Its reader cannot leave in the middle of it. */
export function sendAtOnce(res: ServerResponse, answer: Answer): Delivery {
  res.writeHead(answer.status, answer.headers);
  const last = answer.pieces.length - 1;
  let textBytes = 0;
  answer.pieces.forEach((piece, index) => {
    textBytes += piece.textBytes;
    if (index < last) res.write(piece.data);
    else res.end(piece.data);
  });
  if (last < 0) res.end();
  return { state: 'answered', textBytes };
}

/** Step by step, as the rule says. */
export async function sendByRule(
  res: ServerResponse,
  answer: Answer,
  rule: Rule,
  stage: Stage,
): Promise<Delivery> {
  const delivery: Delivery = { state: 'answered', textBytes: 0 };
  if (rule.headersDelayMs > 0) await stage.forMs(rule.headersDelayMs);
  if ((await arriveAt('headers', rule, stage)) === 'cut') return cut(res, rule, delivery);
  if (stage.gone()) return { ...delivery, state: 'hung_up' };
  for (const status of rule.informational) sendInformational(res, status);
  res.writeHead(answer.status, answer.headers);
  res.flushHeaders();
  if (rule.firstByteDelayMs > 0) await stage.forMs(rule.firstByteDelayMs);

  let offset = 0;
  for (const slice of slices(answer.pieces, rule)) {
    if ((await arriveAt(offset, rule, stage)) === 'cut') return cut(res, rule, delivery);
    if (offset > 0) await pauseBetweenWrites(rule, stage);
    if (stage.gone()) return { ...delivery, state: 'hung_up' };
    if (!res.write(slice.bytes)) await stage.forDrain();
    offset += slice.bytes.length;
    delivery.textBytes += slice.textBytes;
  }
  if (answer.endless !== null) await repeatUntilGone(res, answer.endless, rule, stage);
  if ((await arriveAt(offset, rule, stage)) === 'cut') return cut(res, rule, delivery);
  if (stage.gone()) return { ...delivery, state: 'hung_up' };
  await new Promise<void>((resolve) => {
    res.once('close', resolve);
    res.end(resolve);
  });
  return res.writableFinished ? delivery : { ...delivery, state: 'hung_up' };
}

async function arriveAt(place: 'headers' | number, rule: Rule, stage: Stage): Promise<'go_on' | 'cut'> {
  if (rule.gate !== undefined && rule.gateAt === place) await stage.forGate(rule.gate);
  if (rule.stallAt === place) await stage.forever();
  if (rule.cutAt !== place) return 'go_on';
  // What was written before has to leave this process first.
  await stage.forTurn();
  return stage.gone() ? 'go_on' : 'cut';
}

function cut(res: ServerResponse, rule: Rule, delivery: Delivery): Delivery {
  if (rule.cutWith === 'rst') res.socket?.resetAndDestroy();
  else res.destroy();
  return { ...delivery, state: 'cut' };
}

async function pauseBetweenWrites(rule: Rule, stage: Stage): Promise<void> {
  if (rule.gapMs > 0) await stage.forMs(rule.gapMs);
  else if (rule.writeBytes !== undefined || rule.splitAt.length > 0) await stage.forTurn();
}

async function repeatUntilGone(res: ServerResponse, piece: Piece, rule: Rule, stage: Stage): Promise<void> {
  while (!stage.gone()) {
    if (!res.write(piece.data)) await stage.forDrain();
    if (rule.gapMs > 0) await stage.forMs(rule.gapMs);
    else await stage.forTurn();
  }
}

interface Slice {
  bytes: Buffer;
  textBytes: number;
}

/** The pieces, cut once more where the rule wants a write to end, a wait to begin or the connection to break. */
function* slices(pieces: readonly Piece[], rule: Rule): Generator<Slice> {
  const marks = [rule.gateAt, rule.stallAt, rule.cutAt, ...rule.splitAt].filter(
    (mark) => typeof mark === 'number',
  );
  let start = 0;
  for (const piece of pieces) {
    const bytes = typeof piece.data === 'string' ? Buffer.from(piece.data) : piece.data;
    const end = start + bytes.length;
    const inside = marks.filter((mark) => mark > start && mark < end);
    if (rule.writeBytes !== undefined) {
      for (let mark = start + rule.writeBytes; mark < end; mark += rule.writeBytes) inside.push(mark);
    }
    let from = start;
    for (const to of [...new Set(inside)].sort((a, b) => a - b)) {
      yield { bytes: bytes.subarray(from - start, to - start), textBytes: 0 };
      from = to;
    }
    // A piece counts as delivered with its last byte.
    yield { bytes: bytes.subarray(from - start), textBytes: piece.textBytes };
    start = end;
  }
}

function sendInformational(res: ServerResponse, status: 102 | 103): void {
  if (status === 102) res.writeProcessing();
  else res.writeEarlyHints({ link: '</simulator>; rel=preload' });
}
