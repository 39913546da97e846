import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Delivery } from '../../../../src/bot/platforms/platform.ts';
import type { InboundMessage } from '../../../../src/bot/domain/message.ts';
import { asDeliveryId } from '../../../../src/bot/domain/ids.ts';
import { deliver, groupCallback, NOW_SEC, openAnswer, textCallback, wecom } from './support.ts';
import { tries } from '../../../support/tries.ts';
import { receiveAt } from '../../../support/receive-at.ts';

const bot = wecom();
/** The placeholder of an image in forwarded messages. */
const PICTURE = ['[', 'image', ']'].join('');

function receive(callback: object | string): Delivery {
  return receiveAt(bot, deliver(callback));
}

function message(callback: object): InboundMessage {
  const delivery = receive(callback);
  if (delivery.kind !== 'message') throw new Error(`${delivery.kind} instead of a message`);
  return delivery.message;
}

describe('WeCom messages', () => {
  test('are read from a private text', () => {
    expect(message(textCallback(' hello \n'))).toEqual({
      version: 1,
      platform: 'wecom',
      tenant: 'wecom',
      app: 'aibot',
      saidAtMs: 1_700_000_000_000,
      messageId: 'M1',
      chat: { kind: 'private', id: 'lisi' },
      sender: { userId: 'lisi' },
      parts: [{ type: 'text', text: ' hello \n' }],
    });
  });

  test.each([{ chatid: null }, { chatid: '' }, { chattype: null }, { chattype: null, chatid: null }])(
    'are read from a private text with %j',
    (fields) => {
      expect(message(textCallback('hi', fields)).chat).toEqual({ kind: 'private', id: 'lisi' });
    },
  );

  test('have the company as tenant when it is configured', () => {
    const delivery = receiveAt(
      wecom({ agent: { corpId: 'ww1', agentId: '1', secret: 's' } }),
      deliver(textCallback('hi')),
    );
    expect(delivery).toMatchObject({ kind: 'message', message: { tenant: 'ww1' } });
  });

  test('lose the mention in a group text', () => {
    const { chat, parts, sender } = message(groupCallback('@RobotA 你好 world 🙂'));
    expect(chat).toEqual({ kind: 'group', id: 'wrCHAT' });
    expect(sender).toEqual({ userId: 'lisi' });
    expect(parts).toEqual([{ type: 'text', text: '你好 world 🙂' }]);
  });

  test('ask for help if they are only a mention, and about the quoted message if there is one', () => {
    expect(message(groupCallback('@RobotA ')).slash).toEqual({ word: 'help', argument: '' });
    const quote = { msgtype: 'text', text: { content: '周五考试' } };
    for (const quoted of [message(groupCallback('@RobotA ', { quote })), message(textCallback(' ', { quote }))]) {
      expect(quoted.slash).toBeUndefined();
      expect(quoted).toMatchObject({
        parts: [{ type: 'text', text: '' }],
        quote: [{ type: 'text', text: '周五考试' }],
      });
    }
  });

  test('are read from images, files, videos and voice', () => {
    const of = (msgtype: string, content: object) => message(textCallback('', { msgtype, [msgtype]: content })).parts;
    expect(of('image', { url: 'https://x.test/i' })).toEqual([{ type: 'image', mediaRef: 'https://x.test/i' }]);
    expect(of('file', { url: 'https://x.test/f' })).toEqual([{ type: 'file', mediaRef: 'https://x.test/f' }]);
    expect(of('video', { url: 'https://x.test/v' })).toEqual([{ type: 'unsupported', what: 'video' }]);
    expect(of('voice', { content: '今天几点' })).toEqual([{ type: 'text', text: '今天几点' }]);
    expect(of('voice', { content: '' })).toEqual([{ type: 'unsupported', what: 'voice' }]);
  });

  test('keep the order of mixed parts and name an unknown part', () => {
    const items = [
      { msgtype: 'text', text: { content: '@RobotA\u2005看' } },
      { msgtype: 'image', image: { url: 'https://x.test/i' } },
      { msgtype: 'sticker', sticker: {} },
      { msgtype: 'text', text: { content: '\n' } },
    ];
    expect(message(groupCallback('', { msgtype: 'mixed', mixed: { msg_item: items } })).parts).toEqual([
      { type: 'text', text: '看' },
      { type: 'image', mediaRef: 'https://x.test/i' },
      { type: 'unsupported', what: 'sticker' },
    ]);
  });

  test.each([
    [
      'a link',
      {
        msgtype: 'link',
        link: { title: 'Term dates', desc: 'All of 2026', url: 'https://uni.test/terms', pic_url: 'p' },
      },
      'Term dates\nAll of 2026\nhttps://uni.test/terms',
    ],
    [
      'a link with other field names',
      { msgtype: 'Link', Link: { Title: 'A', LinkUrl: 'https://b.test' } },
      'A\nhttps://b.test',
    ],
    [
      'several links',
      { msgtype: 'news', news: { item: [{ title: 'A' }, { title: 'B', url: 'https://b.test' }] } },
      'A\nB\nhttps://b.test',
    ],
    [
      'a location',
      { msgtype: 'location', location: { name: '图书馆', address: '学院路 1 号', latitude: 1 } },
      '图书馆\n学院路 1 号',
    ],
  ])('contain %s as text', (_name, fields, text) => {
    expect(message(textCallback('', fields)).parts).toEqual([{ type: 'text', text }]);
    expect(message(groupCallback('', fields)).parts).toEqual([{ type: 'text', text }]);
    expect(message(textCallback('and this?', { quote: fields })).quote).toEqual([{ type: 'text', text }]);
  });

  test('quote forwarded messages with their senders in each known format', () => {
    const bundles = [
      {
        msgtype: 'chatrecord',
        chatrecord: {
          title: 'Chat of A and B',
          item: [
            { type: 'ChatRecordText', sender_name: 'A', content: '{"content":"Is it open?"}' },
            { type: 'ChatRecordImage', sender_name: 'B', content: '{"md5":"x"}' },
          ],
        },
      },
      {
        msgtype: 'merged_msg',
        merged_msg: {
          title: 'Chat of A and B',
          item: [
            { msgtype: 'text', sender_name: 'A', msg_content: '{"msgtype":"text","text":{"content":"Is it open?"}}' },
            { msgtype: 'image', sender_name: 'B', image: { url: 'https://x.test/i' } },
          ],
        },
      },
    ];
    for (const bundle of bundles) {
      const { parts, quote, slash } = message(textCallback('', bundle));
      expect({ parts, quote, slash }).toEqual({
        parts: [{ type: 'text', text: '' }],
        quote: [{ type: 'text', text: ['Chat of A and B', 'A: Is it open?', `B: ${PICTURE}`].join('\n') }],
      });
    }
  });

  test.each([
    ['location', { location: { latitude: 1, longitude: 2 } }, 'location'],
    ['link', { link: { pic_url: 'https://x.test/p' } }, 'link'],
    ['business_card', { business_card: { userid: 'wang' } }, 'card'],
    ['weapp', { weapp: { title: 'Canteen' } }, 'program'],
    ['miniprogram', { miniprogram: { title: 'Canteen' } }, 'program'],
    ['chat_record', { chat_record: {} }, 'record'],
    ['voice', { voice: { url: 'https://x.test/v', aeskey: 'k' } }, 'voice'],
    ['video', { video: {} }, 'video'],
    ['image', { image: {} }, 'image'],
    ['text', { text: {} }, 'text'],
    ['mixed', { mixed: { msg_item: [] } }, 'mixed'],
    ['hologram', {}, 'hologram'],
  ])(
    'name the kind %s when it has no readable content, so that it is answered [unreadable-answered]',
    (msgtype, fields, what) => {
      const parts = [{ type: 'unsupported', what }];
      expect(message(textCallback('', { msgtype, text: undefined, ...fields })).parts).toEqual(parts);
      expect(message(groupCallback('', { msgtype, text: undefined, ...fields })).parts).toEqual(parts);
    },
  );

  test('are accepted with any content of any kind [unreadable-answered]', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('link', 'chatrecord', 'location', 'news', 'zzz', 'mixed'),
        fc.jsonValue(),
        (msgtype, body) => {
          expect(message(textCallback('', { msgtype, text: undefined, [msgtype]: body })).parts.length).toBeGreaterThan(
            0,
          );
        },
      ),
      { numRuns: tries(200) },
    );
  });

  test('contain U+FFFD in place of a lone surrogate', () => {
    const plain = JSON.stringify(textCallback('X')).replace('"X"', '"a\\ud83d"');
    expect(receive(plain)).toMatchObject({ message: { parts: [{ text: 'a\uFFFD' }] } });
  });

  test('contain quotes of every kind', () => {
    const quote = (value: unknown) => message(textCallback('and this?', { quote: value })).quote;
    expect(quote({ msgtype: 'text', text: { content: 'earlier' } })).toEqual([{ type: 'text', text: 'earlier' }]);
    expect(quote({ msgtype: 'image', image: { url: 'https://x.test/q' } })).toEqual([
      { type: 'image', mediaRef: 'https://x.test/q' },
    ]);
    expect(quote({ msgtype: 'voice', voice: { content: 'said' } })).toEqual([{ type: 'text', text: 'said' }]);
    expect(quote({ msgtype: 'file', file: { url: 'https://x.test/f' } })).toEqual([
      { type: 'file', mediaRef: 'https://x.test/f' },
    ]);
    expect(quote({ msgtype: 'video', video: { url: 'https://x.test/v' } })).toEqual([
      { type: 'unsupported', what: 'video' },
    ]);
    const mixed = { msg_item: [{ msgtype: 'text', text: { content: 'one' } }] };
    expect(quote({ msgtype: 'mixed', mixed })).toEqual([{ type: 'text', text: 'one' }]);
    expect(quote({ msgtype: 'poll' })).toEqual([{ type: 'unsupported', what: 'poll' }]);
    expect(quote('nonsense')).toBeUndefined();
  });

  test('accept a response_url of WeCom only', () => {
    const handle = (url: unknown, options = {}) => {
      const delivery = receiveAt(wecom(options), deliver(textCallback('hi', { response_url: url })));
      return delivery.kind === 'message' ? delivery.message.laterReplyHandle : 'none';
    };
    const own = 'https://qyapi.weixin.qq.com/cgi-bin/aibot/response?response_code=R';
    expect(handle(own)).toBe(own);
    expect(handle('http://127.0.0.1:9/r', { addresses: { apiUrl: 'http://127.0.0.1:9/api' } })).toBe(
      'http://127.0.0.1:9/r',
    );
    expect(handle('http://127.0.0.1:9/r')).toBeUndefined();
    expect(handle('https://qyapi.weixin.qq.com.evil.test/r')).toBeUndefined();
    expect(handle('https://qyapi.weixin.qq.com@evil.test/r')).toBeUndefined();
    expect(handle('http://qyapi.weixin.qq.com/r')).toBeUndefined();
    expect(handle(5)).toBeUndefined();
  });
});

describe('WeCom slash words', () => {
  test.each([
    ['/stop', { word: 'stop', argument: '' }],
    ['停止', { word: 'stop', argument: '' }],
    ['@RobotA /new', undefined],
    ['stop it', undefined],
  ])('are read in a private chat: %s', (text, slash) => {
    expect(message(textCallback(text)).slash).toEqual(slash);
  });

  test.each([
    ['@RobotA /stop', { word: 'stop', argument: '' }],
    ['@RobotA\u3000停止', { word: 'stop', argument: '' }],
    ['/retry @RobotA', { word: 'retry', argument: '' }],
    ['@RobotA /help me', { word: 'help', argument: 'me' }],
    ['@RobotA2 /stop', undefined],
  ])('are read in a group: %s', (text, slash) => {
    expect(message(groupCallback(text)).slash).toEqual(slash);
  });
});

describe('WeCom polls and events', () => {
  test('include the chat and sender of a poll', () => {
    const poll = { msgid: 'M3', from: { userid: 'lisi' }, msgtype: 'stream', stream: { id: 'S1' } };
    const sender = { userId: 'lisi' };
    expect(receive({ ...poll, chattype: 'single' })).toMatchObject({
      kind: 'poll',
      replyId: 'S1',
      chat: { kind: 'private', id: 'lisi' },
      sender,
    });
    expect(receive({ ...poll, chattype: 'group', chatid: 'wr1' })).toMatchObject({
      chat: { kind: 'group', id: 'wr1' },
      sender,
    });
    expect(receive({ ...poll, chattype: 'group' })).toMatchObject({ kind: 'ignored' });
    expect(receive({ ...poll, stream: {} })).toMatchObject({ kind: 'ignored' });
  });

  test('include feedback in both formats', () => {
    const event = (content: object) =>
      receive({ msgid: 'M', from: { userid: 'lisi' }, msgtype: 'event', event: content });
    const id = 'f1'.repeat(20);
    const feedback = (type: unknown, more: object = {}) =>
      event({ eventtype: 'feedback_event', feedback_event: { id, type, ...more } });
    const verdict = (of: string) => ({ feedback: { verdict: of, answer: id } });
    expect(feedback(1)).toMatchObject({ kind: 'feedback', ...verdict('good'), answer: { status: 200, body: '' } });
    expect(feedback(2)).toMatchObject(verdict('bad'));
    expect(feedback(3)).toMatchObject(verdict('withdrawn'));
    expect(feedback(2, { content: 'No.', inaccurate_reason_list: [4, 2, 9] })).toMatchObject({
      feedback: { reasons: ['incomplete', 'wrong-data'], words: 'No.' },
    });
    expect(feedback(1, { inaccurate_reason_list: [3] })).toMatchObject({ feedback: { reasons: [] } });
    expect(feedback(2, { id: 'somebody else’s' })).toMatchObject({ feedback: { answer: undefined } });
    expect(feedback(4)).toMatchObject({ kind: 'ignored' });
    expect(event({ eventtype: 'feedback_event', type: 2 })).toMatchObject({ feedback: { verdict: 'bad' } });
    expect(event({ eventtype: 'template_card_event' })).toMatchObject({ kind: 'ignored' });
    expect(event({})).toMatchObject({ kind: 'ignored' });
  });

  test.each([
    ['a message from the platform itself', textCallback('hi', { from: { userid: 'sys' } })],
    ['a group without an id', textCallback('hi', { chattype: 'group' })],
    ['a group with an empty id', textCallback('hi', { chattype: 'group', chatid: '' })],
    ['no message id', textCallback('hi', { msgid: undefined })],
    ['no sender', textCallback('hi', { from: {} })],
    ['an unknown chat type', textCallback('hi', { chattype: 'channel' })],
    ['a blank text', textCallback(' ')],
  ])('are ignored with an empty 200: %s', (_name, callback) => {
    expect(receive(callback)).toMatchObject({ kind: 'ignored', answer: { status: 200, body: '' } });
  });
});

describe('WeCom answers', () => {
  const reply = { replyId: asDeliveryId('S1'), content: '**你好**', finished: false };

  test('open the stream and request feedback, or are empty without a reply', () => {
    const delivery = receive(textCallback('hi'));
    if (delivery.kind !== 'message') throw new Error('no message');
    expect(openAnswer(delivery.answer(reply))).toEqual({
      nonce: '1597212914',
      timestamp: NOW_SEC,
      reply: { msgtype: 'stream', stream: { id: 'S1', finish: false, content: '**你好**', feedback: { id: 'S1' } } },
    });
    expect(delivery.answer(undefined)).toEqual({ status: 200, body: '' });
  });

  test('contain the whole text so far for a poll', () => {
    const poll = { msgid: 'M3', from: { userid: 'lisi' }, msgtype: 'stream', stream: { id: 'S1' } };
    const delivery = receive(poll);
    if (delivery.kind !== 'poll') throw new Error('no poll');
    expect(openAnswer(delivery.answer({ ...reply, finished: true })).reply).toEqual({
      msgtype: 'stream',
      stream: { id: 'S1', finish: true, content: '**你好**' },
    });
  });

  test('welcome a person who enters the chat without mentioning everyone', () => {
    const entry = { msgid: 'M', from: { userid: 'lisi' }, msgtype: 'event', event: { eventtype: 'enter_chat' } };
    const delivery = receive(entry);
    if (delivery.kind !== 'entered-chat') throw new Error('no entry');
    expect(delivery.sender).toEqual({ userId: 'lisi' });
    expect(delivery.botName).toBe('RobotA');
    const { reply: welcome } = openAnswer(
      delivery.answer({ botName: 'RobotA', text: `Hello @all ${'x'.repeat(5_000)}`, prompts: [], heading: '' }),
    );
    const { content } = welcome['text'] as { content: string };
    expect(content.startsWith('Hello ＠all x')).toBe(true);
    expect(Buffer.byteLength(content)).toBeLessThanOrEqual(2_048);
  });
});
