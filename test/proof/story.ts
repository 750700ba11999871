import type { WriteStream } from 'node:tty';
import { styleText } from 'node:util';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import type { Verdict } from './judge.ts';

/** What is told while a proof runs: lines with the time since it began, and what is waited for. */
export interface Story {
  title(text: string): void;
  tell(line: string): void;
  /** Waits for it, and says for what: rewritten each second on a terminal, now and then a line elsewhere. */
  during<T>(what: () => string, work: Promise<T>): Promise<T>;
  judge(verdicts: readonly Verdict[]): void;
}

const SHOWN_AFTER_MS = 2 * SECOND_MS;
const SAID_EVERY_MS = MINUTE_MS;
const CLEAR_LINE = '\r\x1b[K';

export function createStory(out: WriteStream): Story {
  const beganMs = performance.now();
  const isTerminal = out.isTTY === true;
  const time = () => `${((performance.now() - beganMs) / SECOND_MS).toFixed(1).padStart(6)} s  `;
  const write = (line: string) => void out.write(`${isTerminal ? CLEAR_LINE : ''}${line}\n`);
  const colored = (color: 'red' | 'green' | 'bold', text: string) => styleText(color, text, { stream: out });

  return {
    title: (text) => write(`${colored('bold', text)}\n`),
    tell: (line) => write(`${time()}${line}`),
    async during(what, work) {
      let saidAtMs = performance.now() + SHOWN_AFTER_MS - SAID_EVERY_MS;
      const say = () => {
        const nowMs = performance.now();
        if (isTerminal)
          out.write(`${CLEAR_LINE}${time()}${what()} …`.slice(0, out.columns + CLEAR_LINE.length));
        else if (nowMs - saidAtMs >= SAID_EVERY_MS) {
          saidAtMs = nowMs;
          write(`${time()}${what()} …`);
        }
      };
      const timer = setInterval(say, SECOND_MS);
      try {
        return await work;
      } finally {
        clearInterval(timer);
      }
    },
    judge(verdicts) {
      write('');
      const width = Math.max(...verdicts.map(({ promise }) => promise.length));
      for (const { promise, measured, isKept } of verdicts) {
        const line = `${isKept ? 'kept  ' : 'BROKEN'}  ${promise.padEnd(width)}  ${measured}`;
        write(colored(isKept ? 'green' : 'red', line));
      }
    },
  };
}
