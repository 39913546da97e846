import { expect, test } from '@jest/globals';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { AnswerDraft } from '../../../../src/bot/turn/answer/answer-draft.ts';
import { NamedLinks } from '../../../../src/bot/turn/answer/named-links.ts';
import { Thought } from '../../../../src/bot/turn/answer/reasoning.ts';
import { ModeratedAnswer } from '../../../../src/bot/turn/moderation/moderated-answer.ts';
import type { ModerationVerdict } from '../../../../src/bot/turn/moderation/verdict.ts';
import { EditThrottle } from '../../../../src/bot/reply/edit-throttle.ts';
import { untilTrue } from '../../../support/until-true.ts';

/** A growing answer that a service judges; the test gives the verdicts. */
function judgedAnswer() {
  const asked: { text: string; say(verdict: ModerationVerdict): void }[] = [];
  const written: string[] = [];
  const throttle = new EditThrottle({
    minGapMs: 20,
    nowMs: () => performance.now(),
    onError: () => undefined,
    write: async ({ text, status }) => {
      written.push(text || `(${status})`);
      await endOfTurn();
      return undefined;
    },
  });
  const moderated = new ModeratedAnswer({
    live: throttle,
    words: undefined,
    ask: (text) => new Promise((resolve) => asked.push({ text, say: resolve })),
    onWord: () => undefined,
    signal: new AbortController().signal,
  });
  const draft = new AnswerDraft({
    ...{ live: moderated, voice: { language: 'en' }, thought: new Thought(false, 'en') },
    ...{
      links: new NamedLinks(),
      masks: undefined,
      sources: { all: [], isUnsourced: false },
      notes: [],
      startsAnew: false,
    },
  });
  return { asked, written, moderated, draft, say: (delta: string) => draft.addEvent({ type: 'text', delta }) };
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
