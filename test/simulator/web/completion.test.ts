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
  test('offer the bot first in a group, then the others, and are not offered in a private chat', () => {
    expect(labels('@')).toEqual(['Parley', 'Bob Miller', '陈晓明']);
    expect(labels('@', IN_PRIVATE)).toBeUndefined();
  });

  test('narrow while typing, also directly after Chinese text', () => {
    expect(labels('hello @mil')).toEqual(['Bob Miller']);
    expect(labels('请问@晓')).toEqual(['陈晓明']);
  });

  test('are not found in an address, and a complete name is sent by Enter without a list', () => {
    expect(labels('me@')).toBeUndefined();
    expect(labels('@parley')).toBeUndefined();
  });

  test('replace only the typed part at the caret', () => {
    expect(picked('ask @pa now', IN_GROUP, 0, 7)).toEqual({ text: 'ask @Parley  now', caret: 12 });
  });
});

describe('Slash words', () => {
  test('are offered with their help after a slash at the start', () => {
    expect(completionAt('/', 1, IN_PRIVATE)?.options[0]).toMatchObject({
      label: '/help',
      detail: 'Show help',
    });
    expect(labels('/s', IN_PRIVATE)).toEqual(['/stop']);
    expect(labels('or /s', IN_PRIVATE)).toBeUndefined();
    expect(labels('/stop', IN_PRIVATE)).toBeUndefined();
  });

  test('are found by their Chinese spelling, and an unknown word is named', () => {
    expect(labels('/停', IN_PRIVATE)).toEqual(['/stop']);
    expect(labels('/停止', IN_PRIVATE)).toBeUndefined();
    expect(completionAt('/sotp', 5, IN_PRIVATE)).toMatchObject({ options: [], unknown: '/sotp' });
    expect(completionAt('/stop now', 9, IN_PRIVATE)).toBeUndefined();
    expect(completionAt('/etc/hosts', 10, IN_PRIVATE)).toBeUndefined();
  });

  test('are offered without a slash if the platform reserves it', () => {
    const onSlack = { ...IN_PRIVATE, isSlashTaken: true };
    expect(labels('/s', onSlack)).toEqual(['stop']);
    expect(picked('/stop', onSlack).text).toBe('stop');
    expect(picked('/n', { ...IN_GROUP, isSlashTaken: true }).text).toBe('@Parley new');
  });

  test('get the mention in a group, once', () => {
    expect(picked('/n', IN_GROUP).text).toBe('@Parley /new');
    expect(picked('@Parley /n', IN_GROUP).text).toBe('@Parley /new');
  });
});

test('keep the text before and after the caret when one is picked', () => {
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
