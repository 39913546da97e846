import { expect, test } from '@jest/globals';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { AnswerDraft } from '../../../../src/bot/turn/answer/answer-draft.ts';
import { NamedLinks } from '../../../../src/bot/turn/answer/named-links.ts';
import { Thought } from '../../../../src/bot/turn/answer/reasoning.ts';
import { ModeratedAnswer } from '../../../../src/bot/turn/moderation/moderated-answer.ts';
import type { ModerationVerdict } from '../../../../src/bot/turn/moderation/verdict.ts';
import { createWordList, readWords, type WordList } from '../../../../src/bot/policy/word-list.ts';
import { EditThrottle } from '../../../../src/bot/reply/edit-throttle.ts';
import { untilTrue } from '../../../support/until-true.ts';

interface Options {
  words?: WordList;
  /** Whether there is a service. */
  isAsked?: boolean;
  minGapMs?: number;
}

/** A growing answer that is checked for words, and by a service whose verdicts the test gives. */
function judgedAnswer({ words, isAsked = true, minGapMs = 20 }: Options = {}) {
  const asked: { text: string; say(verdict: ModerationVerdict): void }[] = [];
  const written: string[] = [];
  const thoughts: (string | undefined)[] = [];
  const throttle = new EditThrottle({
    minGapMs,
    nowMs: () => performance.now(),
    onError: () => undefined,
    write: async ({ text, status, thinking }) => {
      thoughts.push(thinking);
      written.push(text || `(${status})`);
      await endOfTurn();
      return undefined;
    },
  });
  const moderated = new ModeratedAnswer({
    live: throttle,
    words,
    ask: isAsked ? (text) => new Promise((resolve) => asked.push({ text, say: resolve })) : undefined,
    onWord: () => undefined,
    signal: new AbortController().signal,
  });
  const draft = new AnswerDraft({
    ...{ live: moderated, voice: { language: 'en' }, thought: new Thought(true, 'en') },
    ...{
      links: new NamedLinks(),
      masks: undefined,
      sources: { all: [], isUnsourced: false },
      notes: [],
      startsAnew: false,
    },
  });
  return {
    asked,
    written,
    moderated,
    draft,
    say: (delta: string) => draft.addEvent({ type: 'text', delta }),
    thoughts,
  };
}

test('text that arrives while the service judges the text before it is not shown with it [moderation]', async () => {
  const { asked, written, moderated, say } = judgedAnswer();
  say('Hello. ');
  say('What must not be shown');
  asked[0]?.say('allowed');
  await untilTrue(() => asked.length === 2);
  await untilTrue(() => written.length > 0);
  asked[1]?.say('blocked');
  await untilTrue(() => moderated.isBlocked);
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(asked.map(({ text }) => text)).toEqual(['Hello.', 'Hello. What must not be shown']);
  expect(written).toEqual(['Hello. ']);
});

test('text that arrives while a status waits for its turn is not shown with it [moderation]', async () => {
  const { asked, written, draft, say } = judgedAnswer();
  draft.show('Searching');
  await untilTrue(() => written.length === 1);
  draft.show('Reading');
  say('What must not be shown');
  await untilTrue(() => written.length === 2);
  expect(written).toEqual(['(Searching)', '(Reading)']);
  expect(asked).toHaveLength(1);
});

/** The list, and how many texts were checked for its words. */
function listOf(...words: string[]): { words: WordList; begun(): number } {
  const list = createWordList(readWords(words.join('\n')));
  if (!list) throw new Error('The list is empty');
  let begun = 0;
  const begin = () => {
    begun += 1;
    return list.begin();
  };
  return { words: { begin }, begun: () => begun };
}

const LONG = 'a long text '.repeat(800);

test('a service is asked about each text once, also while long pieces are scanned [moderation]', async () => {
  const { words } = listOf('falcon');
  const { asked, written, say, draft } = judgedAnswer({ words });
  say('Beginning. ');
  asked[0]?.say('allowed');
  await untilTrue(() => written.length === 1);
  for (let times = 1; times <= 3; times += 1) {
    say(LONG);
    draft.show('Searching');
    draft.show('Reading');
    await untilTrue(() => asked.length > times);
    say(LONG);
    asked.at(-1)?.say('allowed');
  }
  expect(new Set(asked.map(({ text }) => text)).size).toBe(asked.length);
  expect(asked.at(-1)?.text.length).toBeGreaterThan(4 * LONG.length);
});

test('many pieces of reasoning at once are checked as one [moderation]', async () => {
  const { words, begun } = listOf('falcon');
  const { draft } = judgedAnswer({ words, isAsked: false });
  for (let times = 0; times < 200; times += 1) draft.addEvent({ type: 'reasoning', delta: `thought ${times} ` });
  expect(begun()).toBeGreaterThan(1);
  expect(begun()).toBeLessThan(10);
  await endOfTurn();
});

test('no part of a listed word is written once the word is found [moderation]', async () => {
  const { words } = listOf('falcon');
  const { moderated, written, say } = judgedAnswer({ words, isAsked: false, minGapMs: 500 });
  say('The ');
  await untilTrue(() => written.length === 1);
  say('fal');
  await endOfTurn();
  say('con ');
  await untilTrue(() => moderated.isBlocked);
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(new Set(written)).toEqual(new Set(['The ']));
});

test('reasoning stays visible in what is written while a long answer is judged [moderation]', async () => {
  const { words } = listOf('falcon');
  const { thoughts, draft, say, moderated } = judgedAnswer({ words, isAsked: false, minGapMs: 2 });
  draft.addEvent({ type: 'reasoning', delta: 'I think. ' });
  say('Answer. ');
  await untilTrue(() => thoughts.length > 0);
  const before = thoughts.length;
  say('More. ');
  await moderated.judge(LONG.repeat(40));
  expect(thoughts.length).toBeGreaterThan(before);
  expect(thoughts).not.toContain(undefined);
});

test.each<[string, (draft: AnswerDraft) => void]>([
  ['the reasoning', (draft) => draft.addEvent({ type: 'reasoning', delta: 'A falcon. ' })],
  ['the status', (draft) => draft.show('Asking a falcon, now')],
])('a listed word in %s blocks the answer [moderation]', async (_, add) => {
  const { words } = listOf('falcon');
  const { moderated, written, thoughts, draft } = judgedAnswer({ words, isAsked: false });
  draft.show('Beginning');
  await untilTrue(() => written.length === 1);
  add(draft);
  await untilTrue(() => moderated.isBlocked);
  expect([...written, ...thoughts].join()).not.toContain('falcon');
});

test('a listed word that no write has met is found before a tool runs [moderation]', async () => {
  const { words } = listOf('falcon');
  const { moderated, written, draft, say } = judgedAnswer({ words, isAsked: false, minGapMs: 60_000 });
  say('The ');
  await untilTrue(() => written.length === 1);
  say('falcon flies. ');
  draft.show('Searching');
  moderated.check();
  expect(moderated.isBlocked).toBe(true);
  expect(moderated.signal.aborted).toBe(true);
});
