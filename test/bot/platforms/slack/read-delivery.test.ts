import { describe, expect, test } from '@jest/globals';
import type { Delivery } from '../../../../src/bot/platforms/platform.ts';
import type { InboundMessage } from '../../../../src/bot/domain/message.ts';
import { isResponseAddress } from '../../../../src/bot/platforms/slack/answer-command.ts';
import { readTarget } from '../../../../src/bot/platforms/slack/reply-target.ts';
import { ANSWER, deliver, directMessage, envelope, mention, pressOf, slack } from './support.ts';
import { receiveAt } from '../../../support/receive-at.ts';

const platform = slack({ talk: { models: ['svc-plus', 'svc-max'], followsThreads: false } });
const receive = (body: object): Delivery => receiveAt(platform, deliver(body));

function read(body: object, from = platform): InboundMessage {
  const delivery = receiveAt(from, deliver(body));
  if (delivery.kind !== 'message') throw new Error(`not a message: ${delivery.kind}`);
  return delivery.message;
}

const FORM = { contentType: 'application/x-www-form-urlencoded' };

describe('Slack delivery reader', () => {
  test('answers the signed challenge with itself and refuses an unsigned one', () => {
    const body = { type: 'url_verification', challenge: 'abc123', token: 'legacy' };
    expect(receive(body)).toEqual({
      kind: 'handshake',
      answer: { status: 200, contentType: 'text/plain', body: 'abc123' },
    });
    const unsigned = { ...deliver(body), headers: { 'content-type': 'application/json' } };
    expect(receiveAt(platform, unsigned)).toMatchObject({ kind: 'refused', status: 401 });
  });

  test('sets saidAtMs of a direct message from Slack’s clock', () => {
    expect(read(directMessage('hello')).saidAtMs).toBe(1_760_000_001_000);
  });

  test('reads sender, text and reply target of a direct message', () => {
    const message = read(directMessage('hello &amp; <https://x.test/a|good> &lt;day&gt;'));
    expect(message).toMatchObject({
      messageId: 'D1:1760000001.000100',
      chat: { kind: 'private', id: 'U1' },
      sender: { userId: 'U1' },
      parts: [{ type: 'text', text: 'hello & good (https://x.test/a) <day>' }],
    });
    expect(readTarget(message.replyTarget ?? '')).toMatchObject({ channel: 'D1', threadTs: '1760000001.000100' });
    expect(message.opensThread).toBe('1760000001.000100');
  });

  test.each([
    ['a file of unknown form', { files: [null] }, ['text', 'unsupported']],
    ['a file with an over-long name', { files: [{ id: 'F1', name: 'x'.repeat(1_500) }] }, ['text', 'unsupported']],
    ['an empty thread', { thread_ts: '' }, ['text']],
    ['no channel type', { channel_type: undefined }, ['text']],
    ['the channel type of an app', { channel_type: 'app_home' }, ['text']],
    ['only a picture', { text: '', blocks: [{ type: 'image', image_url: 'https://x.test/a.gif' }] }, ['unsupported']],
  ])('reads a direct message with %s', (_, fields, kinds) => {
    const { chat, parts } = read(directMessage('hello', fields));
    expect([chat, parts.map(({ type }) => type)]).toEqual([{ kind: 'private', id: 'U1' }, kinds]);
  });

  test('reads a direct message without a workspace', () => {
    const body = { ...(directMessage('hello') as Record<string, unknown>), team_id: null };
    expect(read(body).chat).toEqual({ kind: 'private', id: 'U1' });
  });

  test('answers beside a direct message, not in a thread, with SLACK_REPLY=edit', () => {
    const message = read(directMessage('hello'), slack({ reply: 'edit' }));
    expect(readTarget(message.replyTarget ?? '').threadTs).toBeUndefined();
    expect(message.opensThread).toBeUndefined();
  });

  test('reads app_mention and message events of one mention as the same message', () => {
    const asMention = read(mention('what is up?'));
    const asMessage = read(
      envelope({
        type: 'message',
        channel_type: 'channel',
        channel: 'C1',
        user: 'U1',
        text: '<@UBOT> what is up?',
        ts: '1760000002.000100',
      }),
    );
    expect(asMessage).toEqual(asMention);
    expect(asMention).toMatchObject({
      chat: { kind: 'group', id: 'C1' },
      parts: [{ type: 'text', text: 'what is up?' }],
    });
  });

  test('places a mention in a thread into that thread and answers there', () => {
    const message = read(mention('and now?', { thread_ts: '1759999999.000100' }));
    expect(message.chat).toEqual({ kind: 'group', id: 'C1', threadId: '1759999999.000100' });
    expect(readTarget(message.replyTarget ?? '').threadTs).toBe('1759999999.000100');
    expect(message.opensThread).toBeUndefined();
  });

  test.each([
    ['a picture of an address', { blocks: [{ type: 'image', image_url: 'https://x.test/a.gif' }] }, 'sticker'],
    ['an unknown block', { blocks: [{ type: 'hologram' }] }, 'other'],
    ['the card of an app', { attachments: [{ text: 'legacy' }] }, 'other'],
    ['a file without a description', { subtype: 'file_share' }, 'withheld'],
  ])('reads a message that is only %s as one unreadable part [unreadable-answered]', (_what, fields, what) => {
    const bare = { type: 'message', channel_type: 'im', channel: 'D1', user: 'U1', ts: '1760000003.000100', text: '' };
    expect(read(envelope({ ...bare, ...fields })).parts).toEqual([{ type: 'unsupported', what }]);
  });

  test('removes the first mention of an app_mention that names no bot', () => {
    const message = read(envelope({ ...event(mention('hi <@U7>')) }, { authorizations: null }));
    expect(message.parts).toEqual([{ type: 'text', text: 'hi @U7' }]);
  });

  test.each([
    ['a channel message without a mention', { type: 'message', channel_type: 'channel', text: 'plain' }],
    ['a message from a bot', { type: 'message', channel_type: 'im', text: 'x', bot_id: 'B1' }],
    ['the bot’s own message', { type: 'message', channel_type: 'im', text: 'x', user: 'UBOT' }],
    ['an edit', { type: 'message', channel_type: 'im', text: 'x', subtype: 'message_changed' }],
    ['a deletion', { type: 'message', channel_type: 'im', subtype: 'message_deleted' }],
    ['a channel join', { type: 'message', channel_type: 'channel', text: '<@UBOT>', subtype: 'channel_join' }],
    ['an empty message', { type: 'message', channel_type: 'im', text: '  ' }],
    ['a message whose ts is a number', { type: 'message', channel_type: 'im', text: 'x', ts: 1_760_000_001.0001 }],
  ])('ignores %s', (_what, fields) => {
    expect(receive(envelope({ channel: 'D1', user: 'U1', ts: '1760000003.000100', ...fields }))).toMatchObject({
      kind: 'ignored',
      answer: { status: 200, body: '' },
    });
  });

  test('lists images and files after the text and names a file that Slack withholds', () => {
    const message = read(
      directMessage('see', {
        subtype: 'file_share',
        files: [
          { name: 'a.png', mimetype: 'image/png', url_private_download: 'https://files.slack.com/a' },
          { name: 'b.pdf', mimetype: 'application/pdf', url_private: 'https://files.slack.com/b' },
          { mode: 'hidden_by_limit' },
        ],
      }),
    );
    expect(message.parts).toEqual([
      { type: 'text', text: 'see' },
      { type: 'image', mediaRef: 'https://files.slack.com/a', name: 'a.png' },
      { type: 'file', mediaRef: 'https://files.slack.com/b', name: 'b.pdf' },
      { type: 'unsupported', what: 'withheld', name: undefined },
    ]);
  });

  test.each([
    ['help', { word: 'help', argument: '' }],
    ['', { word: 'help', argument: '' }],
    [' Stop ', { word: 'stop', argument: '' }],
    ['think high', { word: 'think', argument: 'high' }],
    ['help me write a letter', undefined],
  ])('reads the app’s command as a slash word or else as a question: %j', (text, slash) => {
    const { kind, message } = command({ text });
    expect(kind).toBe('message');
    expect(message).toMatchObject({ messageId: 'command:trig-1', chat: { kind: 'group', id: 'C9' } });
    expect(message?.slash).toEqual(slash);
    expect(message?.parts).toEqual([{ type: 'text', text: text.trim() }]);
  });

  test('keeps a response_url of Slack only, to be used first for slash words in channels', () => {
    const own = 'http://127.0.0.1:9/commands/secret';
    const responseOf = (more: Record<string, string>) => readTarget(command(more).message?.replyTarget ?? '').response;
    expect(responseOf({ text: 'help', response_url: own })).toEqual({ url: own, isFirst: true });
    expect(responseOf({ text: 'what is this?', response_url: own })).toEqual({ url: own, isFirst: false });
    expect(responseOf({ text: 'help', response_url: own, channel_id: 'D9' })).toEqual({ url: own, isFirst: false });
    for (const elsewhere of [
      'https://hooks.slack.com/commands/x',
      'http://127.0.0.1:10/commands/x',
      'file:///etc/passwd',
      'x',
    ])
      expect(responseOf({ text: 'help', response_url: elsewhere })).toBeUndefined();
    expect(isResponseAddress('https://hooks.slack.com/commands/x', 'https://slack.com/api')).toBe(true);
    for (const foreign of [
      'http://hooks.slack.com/x',
      'https://hooks.slack.com.evil.test/x',
      'https://evil.test/hooks.slack.com',
      'https://hooks.slack.com:8443/x',
    ])
      expect(isResponseAddress(foreign, 'https://slack.com/api')).toBe(false);
  });

  test.each([
    ['Stop', { word: 'stop', argument: '' }],
    ['model SVC-max', { word: 'model', argument: 'SVC-max' }],
    ['model checking', undefined],
    ['help me write a letter', undefined],
  ])('reads a bare slash word in private and after a mention, but not a question: %j', (text, slash) => {
    for (const body of [directMessage(text), mention(text)]) {
      const delivery = receiveAt(platform, deliver(body));
      expect(delivery.kind === 'message' && delivery.message.slash).toEqual(slash);
    }
  });

  test('reads a press of a feedback button as feedback and ignores other clicks', () => {
    const click = (action: object) => {
      const payload = JSON.stringify({ ...pressOf('x'), actions: [action] });
      return receiveAt(platform, deliver(new URLSearchParams({ payload }).toString(), FORM));
    };
    expect(click({ action_id: 'parley_feedback', value: `good zh ${ANSWER}` })).toMatchObject({
      kind: 'feedback',
      feedback: { answer: ANSWER, verdict: 'good', sender: { userId: 'U1' }, followUp: { language: 'zh' } },
    });
    expect(click({ action_id: 'parley_feedback', value: 'good' })).toMatchObject({ kind: 'ignored' });
    expect(click({ action_id: 'other', value: 'x' })).toMatchObject({ kind: 'ignored' });
    expect(receiveAt(platform, deliver('payload=%7Bnonsense', FORM))).toMatchObject({ kind: 'ignored' });
  });
});

function event(body: object): object {
  return (body as { event: object }).event;
}

function command(more: Record<string, string>) {
  const form = { command: '/parley', team_id: 'T1', channel_id: 'C9', user_id: 'U1', trigger_id: 'trig-1', ...more };
  const delivery = receiveAt(platform, deliver(new URLSearchParams(form).toString(), FORM));
  return { kind: delivery.kind, message: delivery.kind === 'message' ? delivery.message : undefined };
}

describe('forwarded Slack messages [input-limits]', () => {
  const shared = (more: object) => ({ is_share: true, author_name: 'Ada Park', text: 'the &lt;plan&gt;', ...more });

  test('are quoted with author, text and images, with or without own words', () => {
    const picture = { mimetype: 'image/png', url_private: 'https://files.slack.com/p.png' };
    const attachments = [shared({ files: [picture] }), { text: 'a preview of a page', title: 'page' }];
    const quote = [
      { type: 'text', text: 'Ada Park: the <plan>' },
      { type: 'image', mediaRef: picture.url_private },
    ];
    expect(read(directMessage('what is this?', { attachments }))).toMatchObject({
      parts: [{ type: 'text', text: 'what is this?' }],
      quote,
    });
    expect(read(directMessage('', { attachments }))).toMatchObject({ parts: [{ type: 'text', text: '' }], quote });
    expect(read(mention('', { attachments })).quote).toEqual(quote);
    expect(read(directMessage('hello', { attachments: [{ text: 'a preview' }] })).quote).toBeUndefined();
  });

  test('are read from their blocks when they have no text', () => {
    const section = {
      type: 'rich_text_section',
      elements: [
        { type: 'text', text: 'from ' },
        { type: 'link', url: 'https://x.test' },
      ],
    };
    const blocks = [{ message: { blocks: [{ type: 'rich_text', elements: [section] }] } }];
    const message = read(directMessage('', { attachments: [shared({ text: '', message_blocks: blocks })] }));
    expect(message.quote).toEqual([{ type: 'text', text: 'Ada Park: from https://x.test' }]);
  });

  test.each([
    ['nothing', 'x'],
    ['other kinds', [null, 7, 'x', [], { is_share: true, text: 7, author_name: {}, files: 'x', message_blocks: 3 }]],
    ['deep nesting', [shared({ text: '', fallback: '', message_blocks: nested(900) })]],
  ])('do not disturb the message when they are malformed: %s', (_what, attachments) => {
    const { parts, quote } = read(directMessage('hello', { attachments }));
    expect(parts).toEqual([{ type: 'text', text: 'hello' }]);
    expect(JSON.stringify({ quote })).not.toContain('deep');
  });

  test('are limited in number and length', () => {
    const many = Array.from({ length: 500 }, () => shared({ text: 'x'.repeat(30_000) }));
    const { quote = [] } = read(directMessage('hello', { attachments: many }));
    expect(quote).toHaveLength(5);
    for (const part of quote) expect(part.type === 'text' && part.text.length).toBeLessThan(20_200);
  });
});

function nested(depth: number): object {
  let inner: object = { type: 'text', text: 'deep' };
  for (let at = 0; at < depth; at += 1) inner = { elements: [inner] };
  return inner;
}
