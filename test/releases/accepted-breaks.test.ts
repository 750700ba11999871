import { expect, test } from 'vitest';
import { type BreakOf, judgeBreaks, readAcceptedBreaks } from './accepted-breaks.ts';

const removed: BreakOf = {
  document: 'v1',
  check: 'response-required-property-removed',
  operation: 'GET /balance',
  text: 'removed the required property `running_calls` from the response with the `200` status',
};
const line = `v1 | ${removed.check} | GET /balance | ${removed.text}`;

test('a break that nobody has accepted stops the check, which prints the line that would accept it', () => {
  const said = judgeBreaks([removed, removed], '# A comment.\n');
  expect(said).toHaveLength(2);
  expect(said[0]).toContain('openapi/accepted-breaks.txt');
  expect(said[1]).toBe(`${line} | REASON`);
});

test('a break that was accepted with a reason stops nothing', () => {
  expect(judgeBreaks([removed], `# A comment.\n\n${line} | Nobody has read it since 0.2.\n`)).toEqual([]);
});

test('what one line accepts is that break alone, in that operation of that document', () => {
  const accepted = `${line} | Nobody has read it since 0.2.\n`;
  for (const other of [
    { ...removed, document: 'admin' as const },
    { ...removed, operation: 'GET /limits' },
    { ...removed, text: removed.text.replace('running_calls', 'reserved_usd') },
  ]) {
    expect(judgeBreaks([removed, other], accepted)).toHaveLength(2);
  }
});

test('a line without a reason of its own, or of another form, is refused', () => {
  for (const wrong of [line, `${line} | `, `${line} | REASON`, `${line} | for | this`, 'v1']) {
    expect(judgeBreaks([removed], `${wrong}\n`).join('\n')).toContain(`and a reason: ${wrong.trimEnd()}`);
  }
});

test('a line that no longer accepts anything has to go', () => {
  const said = judgeBreaks([], `${line} | Nobody has read it since 0.2.\n`);
  expect(said).toEqual([expect.stringContaining('remove it')]);
});

test('the committed lines are of that form', () => {
  expect(judgeBreaks([], readAcceptedBreaks()).filter((each) => !each.includes('remove it'))).toEqual([]);
});
