import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { topicWords } from '../../../src/shared/text/topic-words.ts';

test.each([
  ['May I bring my Bicycle to the bicycle cellar?', 'bicycle cellar bring'],
  ['图书馆周末的开放时间是什么？', '图书馆 周末 开放 时间'],
  ['奖学金什么时候申请，我的学号是20210001', '奖学金 申请 我的学号'],
  ['Write to zhang.wei@x.edu or call +86-138-1234-5678 about the dormitory', 'write call dormitory'],
  ['What is it?', ''],
  ['a'.repeat(5_000), ''],
])('the topic of %j has the words %j', (text, words) => {
  expect(topicWords(text).toSorted()).toEqual(words.split(' ').filter(Boolean).toSorted());
});

test('topic words contain no digits and no addresses, and are few', () => {
  const piece = fc.oneof(fc.string(), fc.constantFrom('学号', '2021', 'a@b.cn', ' ', '，', '图书馆', 'library'));
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const words = topicWords(pieces.join(''));
      expect(words.length).toBeLessThanOrEqual(8);
      expect(words.join(' ')).not.toMatch(/[\d@]/);
      expect(new Set(words).size).toBe(words.length);
    }),
  );
});
