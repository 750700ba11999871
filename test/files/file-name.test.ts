import { describe, expect, test } from 'vitest';
import { HOUR_MS } from '#core/clock.ts';
import {
  type FileName,
  formatFileName,
  hasEnded,
  hourOf,
  imageTypes,
  parseFileName,
} from '#core/files/file-name.ts';

const name: FileName = {
  kind: 'uploads',
  endHour: '20261124T07',
  agentId: 7,
  id: 'upl_a1B2c3D4e5F6g7H8i9J0k1L2',
  contentType: 'image/png',
};
const PATH = 'uploads/20261124T07/7/upl_a1B2c3D4e5F6g7H8i9J0k1L2.png';

test('a name tells whose file it is, of what type, and until when it is linked', () => {
  expect(formatFileName(name)).toBe(PATH);
  for (const contentType of imageTypes) {
    const each = { ...name, contentType };
    expect(parseFileName(formatFileName(each))).toEqual(each);
  }
});

test.each([
  '',
  `/${PATH}`,
  `${PATH}/`,
  `${PATH}\n`,
  PATH.replace('uploads', 'uploads/..'),
  PATH.replace('uploads', 'UPLOADS'),
  PATH.replace('uploads', 'secrets'),
  PATH.replace('uploads', 'constructor'),
  PATH.replace('/7/', '/07/'),
  PATH.replace('/7/', '/0/'),
  PATH.replace('/7/', '/-7/'),
  PATH.replace('/7/', '/7/7/'),
  PATH.replace('/7/', '/12345678901234567/'),
  PATH.replace('upl_', 'upl-'),
  PATH.replace('a1', '..'),
  PATH.replace('a1', 'é1'),
  PATH.replace('.png', ''),
  PATH.replace('.png', '.svg'),
  PATH.replace('.png', '.png.png'),
  PATH.replace('.png', '.PNG'),
  PATH.replace('T07', 'T7'),
])('no other path is a name: %j', (path) => {
  expect(parseFileName(path)).toBeNull();
});

describe('a file has ended', () => {
  const noon = Date.UTC(2026, 10, 24, 12);

  test('two hours after the hour of its last link began', () => {
    const hour = hourOf(noon + 30 * 60_000);
    expect(hour).toBe('20261124T12');
    expect(hasEnded(hour, noon + HOUR_MS)).toBe(false);
    expect(hasEnded(hour, noon + 2 * HOUR_MS - 1)).toBe(false);
    expect(hasEnded(hour, noon + 2 * HOUR_MS)).toBe(true);
  });

  test('and what is no hour never', () => {
    for (const text of ['', '.DS_Store', '0', '20261124', 'a', '20261124T071']) {
      expect(hasEnded(text, noon + 1_000 * HOUR_MS)).toBe(false);
    }
  });
});
