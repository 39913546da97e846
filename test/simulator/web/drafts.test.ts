import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createDrafts, type DraftStorage } from '../../../src/simulator/web/drafts.ts';

function memoryStorage(): DraftStorage & { size(): number } {
  const kept = new Map<string, string>();
  return {
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => void kept.set(key, value),
    removeItem: (key) => void kept.delete(key),
    size: () => kept.size,
  };
}

/** Ids with separators and escape characters of storage keys. */
const id = fc.array(fc.constantFrom('a', '/', '%', '%2F', ' '), { maxLength: 3 }).map((parts) => parts.join(''));

describe('Drafts', () => {
  test('survive a reload, each for its own person and conversation', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.tuple(id, id), { selector: (pair) => JSON.stringify(pair) }), (pairs) => {
        const storage = memoryStorage();
        const drafts = createDrafts(storage);
        pairs.forEach(([person, conversation], index) => drafts.write(person, conversation, `text ${index}`));
        const reloaded = createDrafts(storage);
        pairs.forEach(([person, conversation], index) => {
          expect(reloaded.read(person, conversation)).toBe(`text ${index}`);
        });
      }),
    );
  });

  test('stay separate for ids that are equal when joined', () => {
    const drafts = createDrafts(memoryStorage());
    drafts.write('a/b', 'c', 'one');
    expect(drafts.read('a', 'b/c')).toBe('');
  });

  test('leave no key behind when emptied', () => {
    const storage = memoryStorage();
    const drafts = createDrafts(storage);
    drafts.write('alice', 'c1', 'Hi');
    drafts.write('alice', 'c1', '');
    expect(drafts.read('alice', 'c1')).toBe('');
    expect(storage.size()).toBe(0);
  });

  test('are held in memory when storage refuses', () => {
    const refuse = () => {
      throw new Error('quota');
    };
    const drafts = createDrafts({ getItem: refuse, setItem: refuse, removeItem: refuse });
    drafts.write('alice', 'c1', 'Hi');
    expect(drafts.read('alice', 'c1')).toBe('Hi');
    expect(drafts.read('bob', 'c1')).toBe('');
  });
});
