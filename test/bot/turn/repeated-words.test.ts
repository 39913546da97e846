import { shippedModels } from '../../support/shipped-models.ts';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { connectRedis } from '../../../src/shared/redis/redis.ts';
import { createIdentity, type Identity } from '../../../src/bot/identity/identity.ts';
import { SLASH_SPELLINGS, type SlashCommandName } from '../../../src/bot/domain/slash-words.ts';
import { conversationOf } from '../../../src/bot/domain/conversation.ts';
import type { PolicyFile } from '../../../src/bot/policy/policy-file.ts';
import { createPolicy } from '../../../src/bot/policy/policy.ts';
import { BudgetStore } from '../../../src/bot/turn/budgets/budget-store.ts';
import { createRunSlashWord } from '../../../src/bot/turn/commands/run-slash-word.ts';
import { createScenes } from '../../../src/bot/policy/scenes.ts';
import { SignInGate } from '../../../src/bot/turn/sign-in-gate.ts';
import type { TurnContext } from '../../../src/bot/turn/turn-context.ts';
import { doubleScripts } from '../../support/double-scripts.ts';
import { testKeyRing, textMessage } from '../../support/messages.ts';
import { recordingLog } from '../../support/redis.ts';
import { useIdentityFixture } from '../identity/use-identity-fixture.ts';

// A worker that dies before its commit leaves its external effects. The worker that runs the turn again must say and do the
// same.

const OPEN: PolicyFile = { rules: [], otherwise: { use: true, models: 'all', private: true, groups: 'all' } };
const { server, fixture, open: start } = useIdentityFixture();
const keyRing = testKeyRing();
const { log } = recordingLog();
beforeEach(async () => {
  await start();
});

function stepsWith(identity: Identity) {
  const models = ['svc-max', 'svc-plus'];
  const { nowMs } = fixture.options;
  const gate = new SignInGate({
    scenes: createScenes([]),
    ...{ identity, keyRing, nowMs, mode: 'required', maxHeld: 20, helpUrl: undefined },
    policy: createPolicy({ file: OPEN, models, defaultModel: 'svc-plus' }),
    report: { accessRefused: () => undefined },
  });
  const runSlashWord = createRunSlashWord({
    ...{ keyRing, gate, identity, mode: 'required', catalog: shippedModels() },
    answerQuestion: async () => ({ kind: 'answered', text: 'again' }),
    budgets: new BudgetStore({ redis: server.redis, keyRing, nowMs, timeZone: 'UTC' }),
    records: {
      redis: server.redis,
      keyRing,
      groupScope: 'member',
      nowMs,
      aiMark: 'none',
      timeZone: 'UTC',
      isAudited: false,
    },
    serviceName: { en: 'Sign-in', zh: '统一身份认证' },
  });
  return { gate, runSlashWord };
}

/** The parts of a turn's context that these steps read; each call is another message. */
function contextOf(text: string, kind: 'private' | 'group' = 'private'): TurnContext {
  const { tenant, app } = fixture.owner;
  const chat = kind === 'private' ? {} : { chat: { kind, id: 'wrgroup' } };
  const newest = textMessage(text, { tenant, app, ...chat });
  const turn = {
    ...{ turnId: newest.messageId, conversation: conversationOf(newest, 'member'), heldCount: 0 },
    ...{ history: [], historyLength: 0, summary: '', notices: [], preferences: {} },
    messages: [{ deliveryId: newest.messageId, acceptedAtMs: 0, seq: 1, message: newest }],
    stop: { seq: 0, ownerId: '', servedSeq: 0 },
  };
  return {
    ...{ newest, turn, question: { language: 'en', text, images: [] }, preferences: {}, platform: fixture.platform },
  } as unknown as TurnContext;
}

const signIn = async () => fixture.walk(fixture.browser('20001', 'alice'), await fixture.link('alice', true));
const linkIn = (text: string) => /https?:\/\/\S+\/link\/[\w-]+/.exec(text)?.[0];
const withoutLink = (text: string) => text.replace(linkIn(text) ?? '', '');

describe('a turn that runs again after its worker died', () => {
  test('reports the sign-out again and erases the history', async () => {
    await signIn();
    const { runSlashWord } = stepsWith(fixture.identity);
    const context = contextOf('/unlink');
    const first = await runSlashWord(context, { word: 'unlink', argument: '' });
    expect(first).toMatchObject({ history: { forget: true } });
    expect(await runSlashWord(context, { word: 'unlink', argument: '' })).toEqual(first);
    expect(await runSlashWord(contextOf('/unlink'), { word: 'unlink', argument: '' })).not.toHaveProperty('history');
  });

  test('does not sign out a person who has signed in meanwhile', async () => {
    const { runSlashWord } = stepsWith(fixture.identity);
    const context = contextOf('/unlink');
    const first = await runSlashWord(context, { word: 'unlink', argument: '' });
    await signIn();
    expect(await runSlashWord(context, { word: 'unlink', argument: '' })).toEqual(first);
    expect(await fixture.identity.accountOf(fixture.owner, 'alice')).toMatchObject({ accountId: '20001' });
  });

  test('signs a person out once when the connection sends the command twice [repeatable-scripts]', async () => {
    await signIn();
    const doubling = doubleScripts(connectRedis({ urls: [server.url] }, 'wait', log, 'doubling'));
    const { runSlashWord } = stepsWith(createIdentity({ ...fixture.options, redis: doubling }));
    expect(await runSlashWord(contextOf('/unlink'), { word: 'unlink', argument: '' })).toMatchObject({
      history: { forget: true },
    });
    doubling.disconnect();
  });

  test('shows the same working sign-in link again, because it may not have been seen', async () => {
    const { gate } = stepsWith(fixture.identity);
    const context = contextOf('a question');
    const [first, again] = [await gate.admit(context), await gate.admit(context)];
    const texts = [first, again].map((one) => ('outcome' in one ? one.outcome.text : ''));
    expect(linkIn(texts[0] ?? '')).toBeDefined();
    expect(texts[1]).toBe(texts[0]);
    expect((await fixture.walk(fixture.browser('20001', 'alice'), linkIn(texts[1] ?? '') ?? '')).text).toContain(
      'You are signed in',
    );
  });

  test('keeps a sign-in link that was opened, and one that another message shows', async () => {
    const { gate } = stepsWith(fixture.identity);
    const context = contextOf('a question');
    const first = await gate.admit(context);
    const link = linkIn('outcome' in first ? first.outcome.text : '') ?? '';
    const other = await gate.admit(contextOf('another question'));
    expect(linkIn('outcome' in other ? other.outcome.text : '')).toBe(link);
    const browser = fixture.browser('20001', 'alice');
    const confirm = await fixture.walkToConfirm(browser, link);
    const again = await gate.admit(context);
    expect(linkIn('outcome' in again ? again.outcome.text : '')).toBe(link);
    expect((await browser.submit(confirm, '/sign-in/confirm')).text).toContain('You are signed in');
  });

  test('sends the invitation of a group question again, because the first may not have been sent', async () => {
    const { gate } = stepsWith(fixture.identity);
    const context = contextOf('a question', 'group');
    await gate.admit(context);
    await gate.admit(context);
    expect(fixture.platform.written.map(({ text }) => linkIn(text) !== undefined)).toEqual([true, true]);
  });

  test.each(Object.keys(SLASH_SPELLINGS) as SlashCommandName[])(
    'says and does the same for the word %s',
    async (word) => {
      for (const isLinked of [false, true]) {
        if (isLinked) await signIn();
        const { runSlashWord } = stepsWith(fixture.identity);
        const context = contextOf(`/${word}`);
        const [first, again] = [
          await runSlashWord(context, { word, argument: '' }),
          await runSlashWord(context, { word, argument: '' }),
        ];
        expect({ ...again, text: withoutLink(again.text) }).toEqual({ ...first, text: withoutLink(first.text) });
      }
    },
  );
});
