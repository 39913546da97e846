import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { SLASH_SPELLINGS } from '../../src/bot/domain/slash-words.ts';
import { startDeployment, untilTrue, type Deployment } from '../support/deployment.ts';
import { everyNth } from '../support/tries.ts';
import { typedText, WORD_ROWS, type WordRow } from './slash-word-table.ts';

const PRIVATE_ONLY = { en: 'Please send this to me in our private chat.', zh: '请在与我的私聊中发送。' };
/** A person for each language. */
const PERSON = { en: 'emma.clarke', zh: 'zhangwei' };
/** A slash word in the form that Slack would treat as its own command. */
const SLASHED = new RegExp(`(?<![\\w:/])/(?:${Object.keys(SLASH_SPELLINGS).join('|')})\\b`);
const PLACES = ['private', 'group'] as const;
const LANGUAGES = ['en', 'zh'] as const;

function expectedOf(row: WordRow, place: (typeof PLACES)[number], language: 'en' | 'zh'): string | RegExp {
  if (place === 'private' || row.group === undefined) return row[language];
  return row.group === 'private' ? PRIVATE_ONLY[language] : row.group[language];
}

test('the table contains every slash word', () => {
  const words = new Set(WORD_ROWS.map(({ word }) => word));
  expect(Object.keys(SLASH_SPELLINGS).filter((word) => !words.has(word as never))).toEqual([]);
});

const PLATFORMS = ['wecom', 'slack'] as const;

describe.each(PLATFORMS)('slash words on %s', (protocol) => {
  let deployment: Deployment;
  beforeAll(async () => {
    deployment = await startDeployment({ protocol, env: { SIGN_IN: 'optional', REPLY_MIN_EDIT_MS: '20' } });
  }, 60_000);
  afterAll(() => deployment.stop());
  beforeEach(async () => {
    // Each row is a new conversation: no choices, no history, no invitation, no rate used.
    const keys = await deployment.redis.keys('*');
    const stale = keys.filter((key) => /^\{p\d+\}:(?:preferences|history|rate|state):|^\{id\}:|^\{person:/.test(key));
    if (stale.length > 0) await deployment.redis.del(stale);
  });

  const cases = WORD_ROWS.flatMap((row) =>
    PLACES.flatMap((place) =>
      LANGUAGES.map((language) => ({ row, place, language, typed: typedText(row, language, protocol) })),
    ),
  );
  // Three is prime to the numbers of places and languages: each word is typed in several of them.
  test.each(everyNth(cases, 3, PLATFORMS.indexOf(protocol)))(
    'answer $typed in a $place chat',
    async ({ row, place, language, typed }) => {
      const driver = deployment.messenger.driver;
      const person = PERSON[language];
      const said =
        place === 'private' ? { text: typed } : { text: typed, conversation: { group: 'wrtown' }, mention: true };
      const message = await driver.send(person, said);
      const expected = expectedOf(row, place, language);
      const shown = async () => (await driver.answer(message.id))?.text ?? '';
      const isRight = (text: string) => (typeof expected === 'string' ? text === expected : expected.test(text));
      // The answer to a slash word comes as one snapshot. Slack shows much later that it is final.
      await untilTrue(async () => isRight(await shown()), 8_000).catch(async () =>
        expect(await shown()).toEqual(expected),
      );
      // The answer names words in the form that can be typed on this platform.
      if (protocol === 'slack') expect(await shown()).not.toMatch(SLASHED);
    },
  );

  test('break no rule of the platform and never call the model', () => {
    expect(deployment.messenger.driver.violations()).toEqual([]);
    expect(deployment.lines.filter((line) => line.includes('chat call ended'))).toEqual([]);
  });

  test.each([
    ['/reset', 'emma.clarke', /^“reset” is not one of my commands.* Send (?:\/help|“?help”?|`?help`?) for the list/],
    ['/重置 一下', 'zhangwei', /“重置”不是指令/],
    ['/etc/hosts is empty?', 'emma.clarke', undefined],
  ])('an unknown word is a question, and the answer tells where the commands are: %s', async (typed, person, told) => {
    const { id } = await deployment.messenger.driver.send(person, { text: protocol === 'slack' ? ` ${typed}` : typed });
    const answer = await deployment.messenger.driver.waitForAnswer(id);
    if (told === undefined) expect(answer.note ?? '').not.toContain('command');
    else expect(answer.note).toMatch(told);
  });
});
