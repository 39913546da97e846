import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { applyCompletion, completionAt, type CompletionSource } from '../../../src/simulator/web/completion.ts';
import { BOB, BOOTSTRAP, CHEN } from './sample-views.ts';

const IN_GROUP: CompletionSource = {
  kind: 'group',
  botName: 'Parley',
  botLabel: 'bot',
  members: [BOB, CHEN],
  slashWords: BOOTSTRAP.slashWords,
  otherSpellings: { '/stop': '/停止' },
  isSlashTaken: false,
  language: 'en',
};
const IN_PRIVATE: CompletionSource = { ...IN_GROUP, kind: 'private' };
const labels = (text: string, source = IN_GROUP) =>
  completionAt(text, text.length, source)?.options.map(({ label }) => label);
const picked = (text: string, source: CompletionSource, index = 0, caret = text.length) => {
  const completion = completionAt(text, caret, source);
  const option = completion?.options[index];
  if (!completion || !option) throw new Error(`nothing to complete in ${text}`);
  return applyCompletion(text, caret, completion, option);
};

describe('Mentions', () => {
  test('an @ in a group offers the bot first, then the others; in a private chat nothing', () => {
    expect(labels('@')).toEqual(['Parley', 'Bob Miller', '陈晓明']);
    expect(labels('@', IN_PRIVATE)).toBeUndefined();
  });

  test('typing narrows, also right behind Chinese words', () => {
    expect(labels('hello @mil')).toEqual(['Bob Miller']);
    expect(labels('请问@晓')).toEqual(['陈晓明']);
  });

  test('an address is no mention, and a whole name needs no list: Enter sends it', () => {
    expect(labels('me@')).toBeUndefined();
    expect(labels('@parley')).toBeUndefined();
  });

  test('the pick replaces what was typed at the caret and nothing else', () => {
    expect(picked('ask @pa now', IN_GROUP, 0, 7)).toEqual({ text: 'ask @Parley  now', caret: 12 });
  });
});

describe('Slash words', () => {
  test('a slash at the start offers the words with their help', () => {
    expect(completionAt('/', 1, IN_PRIVATE)?.options[0]).toMatchObject({
      label: '/help',
      detail: 'What the bot can do',
    });
    expect(labels('/s', IN_PRIVATE)).toEqual(['/stop']);
    expect(labels('or /s', IN_PRIVATE)).toBeUndefined();
    expect(labels('/stop', IN_PRIVATE)).toBeUndefined();
  });

  test('the Chinese spelling finds the word; a word that there is not is named', () => {
    expect(labels('/停', IN_PRIVATE)).toEqual(['/stop']);
    expect(labels('/停止', IN_PRIVATE)).toBeUndefined();
    expect(completionAt('/sotp', 5, IN_PRIVATE)).toMatchObject({ options: [], unknown: '/sotp' });
    expect(completionAt('/stop now', 9, IN_PRIVATE)).toBeUndefined();
    expect(completionAt('/etc/hosts', 10, IN_PRIVATE)).toBeUndefined();
  });

  test('where the slash is the platform’s own, the words are offered without it', () => {
    const onSlack = { ...IN_PRIVATE, isSlashTaken: true };
    expect(labels('/s', onSlack)).toEqual(['stop']);
    expect(picked('/stop', onSlack).text).toBe('stop');
    expect(picked('/n', { ...IN_GROUP, isSlashTaken: true }).text).toBe('@Parley new');
  });

  test('in a group the mention comes along, once', () => {
    expect(picked('/n', IN_GROUP).text).toBe('@Parley /new');
    expect(picked('@Parley /n', IN_GROUP).text).toBe('@Parley /new');
  });
});

test('whatever is typed, a pick keeps what stands before and behind it', () => {
  const typed = fc.array(fc.constantFrom('@', '/', 'p', 'st', ' ', '晓', '@Parley ', '\n'), { maxLength: 8 });
  fc.assert(
    fc.property(typed, fc.string({ maxLength: 5 }), (parts, after) => {
      const before = parts.join('');
      const completion = completionAt(before + after, before.length, IN_GROUP);
      for (const option of completion?.options ?? []) {
        const result = applyCompletion(before + after, before.length, completion!, option);
        expect(result.text).toBe(before.slice(0, completion!.fromChar) + option.insert + after);
        expect(result.text.slice(result.caret)).toBe(after);
      }
    }),
  );
});
