import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Answer } from '../bot/model/scripted-chat-server.ts';
import { bothPlatforms } from '../support/both-platforms.ts';
import { untilTrue } from '../support/deployment.ts';
import { useSlackDeployment } from '../support/slack-deployment.ts';

const deployment = useSlackDeployment();
const chunk = (delta: object, reason: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`;
const well: Answer = (response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(`${chunk({ content: 'Well.' })}${chunk({}, 'stop')}data: [DONE]\n\n`);
};

let both: ReturnType<typeof bothPlatforms>;
let people = 0;
beforeEach(async () => {
  deployment.chat.script(well);
  both = bothPlatforms(deployment);
  await deployment.startBot({ ...both.env, PLATFORMS: 'slack,wecom' });
});

async function say(
  platform: 'slack' | 'wecom',
  text: string,
  fields: object,
): Promise<{ text: string; apart: string }> {
  const [seen] = await both.sayAll(platform, [{ person: `UANN${(people += 1)}`, text, fields }]);
  return { text: seen?.snapshots.at(-1) ?? '', apart: seen?.apart.join('\n') ?? '' };
}

const lastPrompt = () => JSON.stringify(deployment.chat.calls.at(-1)?.body);

describe('reading WeCom messages', () => {
  test.each([
    ['a location without a name', 'location', { latitude: 1 }],
    ['videos', 'video', { url: 'https://x.test/v' }],
    ['contact cards', 'business_card', { userid: 'u' }],
    ['mini programs', 'weapp', { title: 'Canteen' }],
    ['a voice message without a transcript', 'voice', { url: 'https://x.test/v' }],
    ['this kind of message', 'hologram', {}],
  ])(
    'answers a private message with %s once, listing the readable types [unreadable-answered]',
    async (what, msgtype, body) => {
      const { text } = await say('wecom', '', { msgtype, text: undefined, [msgtype]: body });
      expect(text).toBe(
        `I cannot read ${what}. I can read text, images and documents only; please send your question as text.`,
      );
      expect(deployment.chat.calls).toHaveLength(0);
    },
  );

  test('reads a link, and quotes forwarded messages as data', async () => {
    const link = { msgtype: 'link', text: undefined, link: { title: 'Term dates', url: 'https://uni.test/terms' } };
    expect((await say('wecom', '', link)).text).toBe('Well.');
    expect(lastPrompt()).toContain('Term dates\\nhttps://uni.test/terms');
    const item = [{ msgtype: 'text', sender_name: 'Ann', text: { content: 'When does it open?' } }];
    const bundle = { msgtype: 'chatrecord', text: undefined, chatrecord: { title: 'Chat', item } };
    expect((await say('wecom', '', bundle)).text).toBe('Well.');
    expect(lastPrompt()).toMatch(/<quoted>[^<]*Chat\\nAnn: When does it open\?/);
  });
});

describe('reading Slack messages', () => {
  const elsewhere = {
    mode: 'external',
    is_external: true,
    external_type: 'gdrive',
    name: 'Plan.gdoc',
    url_private: 'https://docs.google.com/d/1',
  };

  test.each([
    ['stored at Google', elsewhere, '“Plan.gdoc”, which is stored outside this chat'],
    [
      'of a remote service',
      {
        mode: 'external',
        external_type: 'app',
        name: 'Plan.gdoc',
        mimetype: 'image/png',
        url_private: 'https://x.test/p',
      },
      '“Plan.gdoc”, which is stored outside this chat',
    ],
    [
      'that is a canvas',
      { mode: 'quip', filetype: 'quip', name: 'Minutes', url_private: 'https://files.slack.com/c' },
      '“Minutes”, a document of the chat app itself',
    ],
    ['that was deleted', { mode: 'tombstone' }, 'the file, which the chat app did not provide'],
    ['over the limit of the plan', { mode: 'hidden_by_limit' }, 'the file, which the chat app did not provide'],
    [
      'that is not visible to the app',
      { id: 'F1', file_access: 'access_denied', name: 'a.pdf' },
      '“a.pdf”, which the chat app did not provide',
    ],
  ])(
    'answers a question with a file %s and names the file apart from the answer [unreadable-answered]',
    async (_name, file, what) => {
      const seen = await say('slack', 'When is the exam?', { subtype: 'file_share', files: [file] });
      expect(seen.text).toBe('Well.');
      expect(seen.apart).toContain(`I could not read ${what}, so this answer does not take it into account.`);
      const alone = await say('slack', '', { subtype: 'file_share', files: [file] });
      expect(alone.text).toContain(`I cannot read ${what}. Please upload the file itself`);
      expect(deployment.chat.calls).toHaveLength(1);
    },
  );

  test('answers a question whose file of another company is stored elsewhere [unreadable-answered]', async () => {
    deployment.slack.fileFacts.set('F0SHARED9', () => ({ id: 'F0SHARED9', ...elsewhere }));
    const files = [{ id: 'F0SHARED9', file_access: 'check_file_info' }];
    const seen = await say('slack', 'When is the exam?', { subtype: 'file_share', files });
    expect(seen.text).toBe('Well.');
    expect(seen.apart).toContain('which is stored outside this chat');
  });

  test('reads a forwarded e-mail as its text', async () => {
    const files = [
      { mode: 'email', name: 'Re: rooms', plain_text: 'Room 12 is free.', url_private: 'https://files.slack.com/m' },
    ];
    expect((await say('slack', 'Which room?', { subtype: 'file_share', files })).text).toBe('Well.');
    expect(lastPrompt()).toContain('Re: rooms\\nRoom 12 is free.');
  });

  const table = {
    type: 'table',
    rows: [
      [
        { type: 'raw_text', text: 'Room' },
        { type: 'raw_text', text: 'Seats' },
      ],
      [
        { type: 'rich_text', elements: [{ type: 'rich_text_section', elements: [{ type: 'text', text: 'A|1 & B' }] }] },
        { type: 'raw_text', text: '30' },
      ],
    ],
  };

  test.each([
    ['in its attachments', { attachments: [{ blocks: [table] }] }],
    ['in its blocks', { blocks: [table] }],
  ])('reads a message that is a table %s', async (_where, fields) => {
    expect((await say('slack', '', fields)).text).toBe('Well.');
    expect(lastPrompt()).toContain('| Room | Seats |\\n| --- | --- |\\n| A\\\\|1 & B | 30 |');
  });

  test('reads a message that consists of blocks only', async () => {
    const elements = [
      { type: 'text', text: 'Where is ' },
      { type: 'link', url: 'https://uni.test/', text: 'the hall' },
      { type: 'text', text: '?' },
    ];
    const blocks = [{ type: 'rich_text', elements: [{ type: 'rich_text_section', elements }] }];
    expect((await say('slack', '', { blocks })).text).toBe('Well.');
    expect(lastPrompt()).toContain('Where is the hall (https://uni.test/)?');
  });

  test.each(['slack', 'wecom'] as const)('answers a mention without text with help on %s', async (platform) => {
    const [seen] = await both.sayAll(platform, [{ person: 'UANN', group: 'CBARE', text: '' }]);
    expect(seen?.snapshots.at(-1)).toMatch(/`\/?new` starts a new conversation/);
    expect(deployment.chat.calls).toHaveLength(0);
  });

  test("ignores messages from Slack's own accounts", async () => {
    for (const user of ['USLACK', 'USLACKBOT']) {
      const [seen] = await both.sayAll('slack', [{ person: user, text: 'Reminder: stand up.' }]);
      expect(seen?.snapshots).toEqual([]);
    }
    expect(deployment.chat.calls).toHaveLength(0);
  });
});

describe('mentions in Slack reach the model as names [mentioned-names]', () => {
  const calls = () => deployment.slack.calls.filter(({ method }) => /^(?:users|conversations)\.info$/.test(method));

  test('names of people and channels are looked up once, and labels in the message are used without a lookup', async () => {
    deployment.slack.people.set('U0ABC123', { profile: { display_name: 'Grace\nHopper' } });
    const text = 'ask <@U0ABC123> and <@U1|ben> in <#C0123|> or <#C2|rooms>, <!subteam^S1|@office>, <!here>';
    deployment.slack.channels.set('C0123', 'rooms-0123');
    const ask = async (person: string) => {
      await deployment.sender.direct(person, text);
      await untilTrue(() => deployment.textsIn(`D${person}`).at(-1) === 'Well.');
    };
    await ask('UANN90');
    expect(lastPrompt()).toContain('ask @Grace Hopper and @ben in #rooms-0123 or #rooms, @office, @here');
    await ask('UANN91');
    expect(calls().map(({ args }) => args)).toEqual([{ user: 'U0ABC123' }, { channel: 'C0123' }]);
  });

  test('a neutral word replaces names that Slack does not return', async () => {
    await deployment.sender.direct('UANN92', 'ask <@U0ZZZ> in <#C0999|> today');
    await untilTrue(() => deployment.textsIn('DUANN92').at(-1) === 'Well.');
    expect(lastPrompt()).toContain('ask @someone in #a-channel today');
  });
});
