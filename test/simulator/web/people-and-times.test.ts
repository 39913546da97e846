import { describe, expect, test } from '@jest/globals';
import { askerOf, stopText } from '../../../src/simulator/web/asker.ts';
import { MAX_FILE_BYTES, MAX_IMAGE_BYTES } from '../../../src/simulator/api.ts';
import { fileFault, imageFault } from '../../../src/simulator/web/image-choice.ts';
import { hostBeside, inAppLinks, isAllowedLink } from '../../../src/simulator/web/links.ts';
import { groupMessages } from '../../../src/simulator/web/message-groups.ts';
import { avatarColourOf, choosePerson, initialsOf } from '../../../src/simulator/web/people.ts';
import { sayIn } from '../../../src/simulator/web/page-texts.ts';
import { createThinkingClock } from '../../../src/simulator/web/thinking-clock.ts';
import { clockTime, dayKeyOf, dayLabel, listTime } from '../../../src/simulator/web/times.ts';
import { ALICE, GROUP, messageView, PRIVATE } from './sample-views.ts';

describe('people', () => {
  test.each([
    ['Alice Wang', 'AW'],
    ['陈晓明', '晓明'],
    ['王芳', '王芳'],
    ['plato', 'P'],
    ['Jean-Luc Picard', 'JP'],
    ['', '?'],
  ])('%s has the initials %s', (name, initials) => expect(initialsOf(name)).toBe(initials));

  test('have a constant colour per name', () => {
    expect(avatarColourOf('陈晓明')).toBe(avatarColourOf('陈晓明'));
    expect(avatarColourOf('Alice')).not.toBe(avatarColourOf('Bob'));
  });

  test('are chosen for a tab by its address, then its memory, then the directory', () => {
    expect(choosePerson(['a', 'b'], '?person=b', 'a')).toBe('b');
    expect(choosePerson(['a', 'b'], '?person=nobody', 'b')).toBe('b');
    expect(choosePerson(['a', 'b'], '', null)).toBe('a');
    expect(choosePerson([], '?person=b', null)).toBeUndefined();
  });
});

describe('times', () => {
  const style = { locale: 'en-GB', timeZone: 'Asia/Shanghai', say: sayIn('en') };
  const nowMs = Date.UTC(2026, 2, 10, 4, 0); // noon in Shanghai

  test('use the days of the reader, not of UTC', () => {
    expect(dayKeyOf(Date.UTC(2026, 2, 9, 17, 0), style)).toBe('2026-03-10');
    expect(dayLabel(Date.UTC(2026, 2, 9, 17, 0), nowMs, style)).toBe('Today');
    expect(dayLabel(Date.UTC(2026, 2, 9, 15, 0), nowMs, style)).toBe('Yesterday');
    expect(dayLabel(Date.UTC(2025, 11, 24, 5, 0), nowMs, style)).toBe('24 December 2025');
  });

  test('in the list are the clock today and the date later', () => {
    expect(listTime(Date.UTC(2026, 2, 10, 1, 5), nowMs, style)).toBe('09:05');
    expect(listTime(Date.UTC(2026, 2, 7, 1, 5), nowMs, style)).toBe('Sat');
    expect(listTime(Date.UTC(2026, 0, 7, 1, 5), nowMs, style)).toBe('07/01/26');
  });

  test.each([
    ['en-US', '5:10\u202fPM'],
    ['en-GB', '17:10'],
    ['zh-CN', '17:10'],
    ['de-DE', '17:10'],
  ])("use the clock format of the reader's locale, %s", (locale, shown) => {
    const atMs = Date.UTC(2026, 2, 10, 9, 10);
    expect(clockTime(atMs, { ...style, locale }).replace(' PM', '\u202fPM')).toBe(shown);
    expect(listTime(atMs, nowMs, { ...style, locale })).toBe(clockTime(atMs, { ...style, locale }));
  });

  test('split messages into days and runs', () => {
    const at = (minutes: number, sender: string) => messageView({ sender, atMs: nowMs + minutes * 60_000 });
    const list = [at(-1440, 'bot'), at(0, 'bot'), at(1, 'bot'), at(2, 'alice'), at(30, 'alice')];
    const days = groupMessages(list, (atMs) => dayKeyOf(atMs, style));
    expect(days.map(({ placed }) => placed.map(({ startsRun }) => startsRun))).toEqual([
      [true],
      [true, false, true, true],
    ]);
  });

  test('of thinking last from its first display to the first word', () => {
    const clock = createThinkingClock();
    const thinking = messageView({ state: 'streaming', text: '', thinking: 'Hm' });
    clock.observe(thinking, 1_000);
    expect(clock.seconds('m1', 4_000)).toBe(3);
    clock.observe({ ...thinking, text: 'So' }, 6_000);
    expect(clock.seconds('m1', 60_000)).toBe(5);
    clock.observe(messageView({ id: 'old', thinking: 'Hm' }), 7_000);
    expect(clock.seconds('old', 8_000)).toBeUndefined();
  });
});

describe('stopping an answer', () => {
  const say = (id: string, sender: string, text: string) => messageView({ id, sender, text, conversationId: GROUP.id });
  const answer = say('a', 'bot', '');

  test('is offered to the last person who mentioned the bot', () => {
    const list = [
      say('1', 'alice', '@parley hi'),
      say('2', 'bob', 'no mention'),
      answer,
      say('3', 'bob', '@Parley later'),
    ];
    expect(askerOf(answer, list, GROUP, 'Parley')).toBe('alice');
    expect(askerOf(answer, [answer], GROUP, 'Parley')).toBeUndefined();
    expect(askerOf(answer, [answer], PRIVATE, 'Parley')).toBe(ALICE.id);
  });

  test('mentions the bot in a group', () => {
    expect(stopText('private', 'Parley', 'en')).toBe('/stop');
    expect(stopText('group', 'Parley', 'en')).toBe('@Parley /stop');
    // A Chinese reader sends the Chinese stop word.
    expect(stopText('private', 'Parley', 'zh')).toBe('停止');
    expect(stopText('group', 'Parley', 'zh')).toBe('@Parley 停止');
  });
});

describe('links and images', () => {
  test('open every loopback address in the app unless origins are configured', () => {
    const isInApp = inAppLinks(undefined);
    expect(['http://localhost:1/', 'http://127.0.0.1/', 'http://[::1]:8/'].every(isInApp)).toBe(true);
    expect(['http://localhost.example/', 'mailto:a@localhost', 'x'].some(isInApp)).toBe(false);
    expect(inAppLinks(['https://bot.example'])('http://localhost/')).toBe(false);
  });

  test('are links only for web and mail addresses without credentials', () => {
    expect(isAllowedLink('mailto:a@b.example')).toBe(true);
    expect(['javascript:x', '/relative', 'https://a:b@c.example'].some(isAllowedLink)).toBe(false);
    expect(hostBeside('mailto:a@b.example', 'write')).toBeUndefined();
  });

  test('have a size and a number for files', () => {
    expect(fileFault({ size: MAX_FILE_BYTES }, 8)).toBeUndefined();
    expect(fileFault({ size: MAX_FILE_BYTES + 1 }, 0)).toBe('fileTooLarge');
    expect(fileFault({ size: 1 }, 9)).toBe('fileCount');
  });

  test('have a type, a size and a number for images', () => {
    expect(imageFault({ type: 'image/png', size: MAX_IMAGE_BYTES }, 8)).toBeUndefined();
    expect(imageFault({ type: 'image/svg+xml', size: 1 }, 0)).toBe('imageKind');
    expect(imageFault({ type: 'image/png', size: MAX_IMAGE_BYTES + 1 }, 0)).toBe('imageTooLarge');
    expect(imageFault({ type: 'image/png', size: 1 }, 9)).toBe('imageCount');
  });
});
