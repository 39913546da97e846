import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  belowStream,
  areBlocksRefused,
  toTextOnly,
  wholeSnapshot,
} from '../../../../src/bot/platforms/slack/write-snapshot.ts';

const words = fc.stringMatching(/^[a-z&<>!@*_`|# \n，。😀]{0,60}$/u);
const long = fc.tuple(words, fc.integer({ min: 1, max: 200 })).map(([text, times]) => text.repeat(times));

test('writes a snapshot with no note or a blank one as markdown_text alone', () => {
  expect(wholeSnapshot({ content: 'Hello' })).toEqual({ markdown_text: 'Hello' });
  expect(wholeSnapshot({ content: 'Hello', note: ' \n' })).toEqual({ markdown_text: 'Hello' });
  expect(belowStream({ content: 'Hello' })).toEqual({});
});

test('writes a note as a plain-text context block below the text, never in markdown_text', () => {
  const context = { type: 'context', elements: [{ type: 'plain_text', text: '*Stopped* & <done>', emoji: false }] };
  expect(wholeSnapshot({ content: 'a < b', note: '*Stopped* & <done>' })).toEqual({
    text: 'a &lt; b',
    blocks: [{ type: 'markdown', text: 'a < b' }, context],
  });
  expect(belowStream({ content: 'a < b', note: '*Stopped* & <done>' })).toEqual({ blocks: [context] });
});

test('stays within Slack’s limits, cuts no entity and mentions no one, for any text and note [slack-web-api]', () => {
  fc.assert(
    fc.property(long, long, (content, note) => {
      fc.pre(note.trim() !== '');
      const { text, blocks } = wholeSnapshot({ content, note }) as {
        text: string;
        blocks: [{ text: string }, { elements: [{ text: string }] }];
      };
      expect(text.length).toBeLessThanOrEqual(4_000);
      expect(text.replaceAll(/&(?:amp|lt|gt);/g, '')).not.toMatch(/[&<>]/);
      const plain = text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
      expect(content.startsWith(plain)).toBe(true);
      expect(blocks[0].text).toBe(content);
      const shown = blocks[1].elements[0].text;
      expect(shown.length).toBeLessThanOrEqual(3_000);
      expect(shown).not.toMatch(/<[!@#]|[\ud800-\udbff]$/);
    }),
  );
});

test('attributes refused blocks to the note only when there is one, and then moves the note into the text', () => {
  const snapshot = { content: 'Half', note: 'Stopped.', finished: true };
  expect(areBlocksRefused('invalid_blocks', snapshot)).toBe(true);
  expect(areBlocksRefused('not_in_channel', snapshot)).toBe(false);
  expect(toTextOnly(snapshot)).toEqual({ content: 'Half\n\nStopped.', finished: true });
  expect(areBlocksRefused('invalid_blocks', toTextOnly(snapshot))).toBe(false);
});
