import { expect, test } from '@jest/globals';
import { definedOnly } from '../../src/shared/defined-only.ts';

test('undefined fields are removed, and all others are kept', () => {
  const query = new URLSearchParams(definedOnly({ code: 'c', state: undefined, error: '' }));
  expect(query.toString()).toBe('code=c&error=');
  expect(Object.keys(definedOnly({ a: 0, b: undefined, c: false }))).toEqual(['a', 'c']);
});
