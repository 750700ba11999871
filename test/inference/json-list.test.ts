import fc from 'fast-check';
import { expect, it } from 'vitest';
import { splitJsonList } from '../../api/inference/json/json-list.ts';

it.each<[string, string[] | null]>([
  ['[]', []],
  [' [ ] ', []],
  ['[1.0,-0,1e5]', ['1.0', '-0', '1e5']],
  ['[ {"a":[1,{"b":","}]} , "x,]\\"[" ,[[],[2]] ]', ['{"a":[1,{"b":","}]}', '"x,]\\"["', '[[],[2]]']],
  ['["\\\\",1]', ['"\\\\"', '1']],
  ['{"a":[1]}', null],
  ['"[1,2]"', null],
  ['null', null],
  ['', null],
])('the entries of %s are those that were written', (text, entries) => {
  expect(splitJsonList(text)).toEqual(entries);
});

it('any list put together from its entries says the same', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), fc.constantFrom(0, 1, '\t'), (list, indent) => {
      const entries = splitJsonList(JSON.stringify(list, null, indent));
      expect(JSON.parse(`[${entries?.join(',')}]`)).toEqual(JSON.parse(JSON.stringify(list)));
      expect(entries).toHaveLength(list.length);
    }),
  );
});

it('no text makes it throw or never end', () => {
  fc.assert(fc.property(fc.string(), (text) => void splitJsonList(`[${text}`)));
});
