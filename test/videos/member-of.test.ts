import { expect, test } from 'vitest';
import { memberOf } from '../../workers/video/member-of.ts';

const videos = Array.from({ length: 6_000 }, (_, i) => `vid_${String(i).padStart(20, '0')}`);
const shares = (members: string[]) =>
  members.map((member) => videos.filter((each) => memberOf(members, each) === member).length);

test('each of several workers has about as many videos as the others', () => {
  for (const share of shares(['a1', 'b2', 'c3'])) expect(Math.abs(share - 2_000)).toBeLessThan(200);
});

test('one that comes or goes moves nothing between the others', () => {
  const moved = videos.filter((each) => {
    const before = memberOf(['a1', 'b2', 'c3'], each);
    const after = memberOf(['c3', 'a1'], each);
    return before !== 'b2' && before !== after;
  });
  expect(moved).toEqual([]);
});

test('without anybody it is nobody’s', () => {
  expect(memberOf([], 'vid_1')).toBeNull();
});
