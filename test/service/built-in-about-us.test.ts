import { fileURLToPath } from 'node:url';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { composeAnswer } from '../../src/service/demo-model/compose-answer.ts';
import { DocSearch } from '../../src/service/demo-model/doc-search.ts';
import { readChatRequest } from '../../src/service/chat/chat-request.ts';
import { shippedModelsByName } from '../support/shipped-models.ts';

const docs = new DocSearch(fileURLToPath(new URL('../../', import.meta.url)));
const models = shippedModelsByName();
const SEARCH = {
  type: 'function',
  function: {
    name: 'knowledge_search',
    description: 'Searches the documents',
    parameters: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
  },
};

/** Where the built-in model looks first when the documents of the institution can be searched. */
async function looksFirst(question: string): Promise<'documents' | 'our pages'> {
  const request = { model: 'svc-max', messages: [{ role: 'user', content: question }], tools: [SEARCH] };
  const { toolCalls } = await composeAnswer(readChatRequest(request, models), docs);
  return toolCalls.length > 0 ? 'documents' : 'our pages';
}

describe('questions that are clearly about this program, answered from its pages', () => {
  test.each([
    'How do I connect a real WeCom bot?',
    'What is Parley?',
    'What does GROUP_SCOPE mean?',
    'How must Redis be configured?',
    'How do I monitor it with Prometheus?',
    'Which model does this bot use?',
    '/清除 会删除什么？',
    'How do I sign out?',
    'How do I log in?',
    'How do I start a new conversation?',
    'How long are conversations kept?',
    '怎样接入企业微信？',
    'WORKER_CONCURRENCY 是什么？',
    '怎么登录？',
    '怎么退出登录？',
    '怎么部署？',
    '怎么开始新的对话？',
    '机器人能读什么文件？',
    '怎么更换密钥？',
  ])('%s', async (question) => expect(await looksFirst(question)).toBe('our pages'));
});

describe('other questions, searched in the documents of the institution first', () => {
  test.each([
    'How do I sign in to the campus network?',
    'Where do I sign in for the examination?',
    'Are slacks allowed in the laboratory?',
    'Which courses teach conversation skills?',
    'Where do I upload thesis_final.pdf?',
    'Where is the key to room 3/104?',
    'Who repairs the robots of the workshop?',
    '怎么登录校园网？',
    '机器人实验室在哪里？',
    '微信公众号怎么申请？',
    '部署在哪个校区的服务器可以借用？',
    '英语对话课什么时候上？',
    '宿舍的文件柜坏了找谁？',
  ])('%s', async (question) => expect(await looksFirst(question)).toBe('documents'));

  const shipped = parse(readFileSync('examples/questions.yaml', 'utf8')) as { ask: string }[];
  test.each([...new Set(shipped.map(({ ask }) => ask))])('%s', async (question) =>
    expect(await looksFirst(question)).toBe('documents'),
  );
});

const IN_GROUP = 'In a private chat with you this person may be able to read more: suggest to ask there.';

test.each([
  [
    'When does the ice rink open?',
    'Nothing was found.',
    /^I'm only a small demo model and found no answer in the documents that you may read here; /,
  ],
  ['溜冰场几点开门？', 'Nothing was found.', /^我只是一个小型演示模型，在你有权查阅的文档中没有找到答案；/],
  [
    'How many books may I borrow?',
    IN_GROUP,
    /documents that everyone in this group may read; ask me in our private chat/,
  ],
  ['我可以借多少册图书？', IN_GROUP, /可以私聊问我/],
  ['How many books may I borrow?', `[1] A (B)\n> ${IN_GROUP}`, /documents that you may read here;/],
])('says that the documents contain no answer: %s (%s)', async (question, content, said) => {
  const call = { id: 'call_1', type: 'function', function: { name: 'knowledge_search', arguments: '{"query":"x"}' } };
  const messages = [
    { role: 'user', content: question },
    { role: 'assistant', content: '', tool_calls: [call] },
    { role: 'tool', tool_call_id: 'call_1', content },
  ];
  const request = readChatRequest({ model: 'svc-max', messages, tools: [SEARCH] }, models);
  expect((await composeAnswer(request, docs)).text).toMatch(said);
});
