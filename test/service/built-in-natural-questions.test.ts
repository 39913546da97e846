import { cpSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createCurrentTime } from '../../src/bot/tools/current-time.ts';
import { createKnowledgeSearch } from '../../src/bot/tools/knowledge-search.ts';
import { createWhoAmI } from '../../src/bot/tools/who-am-i.ts';
import type { Citable, Tool, ToolCallContext } from '../../src/bot/tools/tool.ts';
import { faultsOf } from '../../src/cli/eval/judge-answer.ts';
import { parseQuestions, type Question } from '../../src/cli/eval/questions-file.ts';
import { readChatRequest } from '../../src/service/chat/chat-request.ts';
import { composeAnswer } from '../../src/service/demo-model/compose-answer.ts';
import { DocSearch } from '../../src/service/demo-model/doc-search.ts';
import type { ServicePerson } from '../../src/service/directory-file.ts';
import { KnowledgeFixture } from '../bot/knowledge/knowledge-fixture.ts';
import { shippedModelsByName } from '../support/shipped-models.ts';

/** The built-in model with Parley's own tools over the sample documents, as in local mode. */
const docs = new DocSearch(fileURLToPath(new URL('../../', import.meta.url)));
const models = shippedModelsByName();
const people = JSON.parse(readFileSync('examples/people.json', 'utf8')) as ServicePerson[];
const fixture = new KnowledgeFixture();
let tools: Tool[];

beforeAll(async () => {
  cpSync('examples', fixture.root, { recursive: true });
  const knowledge = fixture.useFile(JSON.parse(readFileSync('examples/knowledge.json', 'utf8')) as object);
  // Tables are read in another process, and indexed last.
  await fixture.until(async () => (await fixture.titles('shuttle bus')).length > 0);
  tools = [createCurrentTime(() => 0, 'UTC'), createWhoAmI(), createKnowledgeSearch(knowledge)];
});
afterAll(() => fixture.end());

/** Whether the answer says that a small demo model answers. */
const DECLINED = /demo model|演示模型/;

/** Asks one question, performs the tool calls, and returns the last answer with the titles of the cited documents. */
async function ask(question: Pick<Question, 'ask' | 'as'>): Promise<{ text: string; beside: string }> {
  const person = people.find(({ username }) => username === question.as)?.profile;
  const cited: Citable[] = [];
  const context = {
    person: person && {
      accountId: person.id,
      name: person.attributes.XM,
      departmentName: person.attributes.BMMC,
      identityCode: person.parentIdentityInfo.code,
      department: person.attributes.BMBM,
    },
    place: { kind: 'private', id: 'u1' },
    language: 'en',
    isNamed: () => false,
    cite: (found: Citable) => cited.push(found),
  } as unknown as ToolCallContext;
  const declared = tools.map(({ name, description, parameters }) => ({
    type: 'function',
    function: { name, description, parameters },
  }));
  const messages: object[] = [{ role: 'user', content: question.ask }];
  for (let round = 0; round < 3; round += 1) {
    const request = readChatRequest({ model: 'svc-max', messages, tools: declared }, models);
    const answer = await composeAnswer(request, docs);
    if (answer.toolCalls.length === 0) return { text: answer.text, beside: titlesIn(answer.text, cited) };
    messages.push({ role: 'assistant', content: null, tool_calls: answer.toolCalls });
    for (const { id, function: called } of answer.toolCalls) {
      const use = tools.find(({ name }) => name === called.name)?.prepare(called.arguments, context);
      const content = use && 'run' in use ? await use.run(new AbortController().signal) : 'unknown tool';
      messages.push({ role: 'tool', tool_call_id: id, content });
    }
  }
  return { text: 'no answer after three rounds', beside: '' };
}

function titlesIn(text: string, cited: readonly Citable[]): string {
  return [...text.matchAll(/\[(\d+)\]/g)].map(([, number]) => cited[Number(number) - 1]?.title ?? '').join('\n');
}

type Verdict = 'right' | 'declined' | 'wrong';

async function judge(question: Question): Promise<{ verdict: Verdict; told: string }> {
  const answer = await ask(question);
  const verdict = faultsOf(question, answer).length === 0 ? 'right' : DECLINED.test(answer.text) ? 'declined' : 'wrong';
  return { verdict, told: `${verdict}: ${question.ask} → ${answer.text.slice(0, 120).replace(/\s+/g, ' ')}` };
}

test('the built-in model answers at least 34 of the 40 natural questions, and none wrongly', async () => {
  const judged: Awaited<ReturnType<typeof judge>>[] = [];
  for (const question of parseQuestions(readFileSync('examples/natural-questions.yaml', 'utf8')))
    judged.push(await judge(question));
  const told = (verdict: Verdict) => judged.filter((one) => one.verdict === verdict).map((one) => one.told);
  expect(told('wrong')).toEqual([]);
  expect(judged).toHaveLength(40);
  expect(told('right').length).toBeGreaterThanOrEqual(34);
});

describe('questions that neither the sample documents nor the rules answer, declined instead of answered wrongly', () => {
  test.each([
    'What is the wifi password?',
    'Where is the library?',
    'When was the library built?',
    'Can I eat in the library?',
    'How much does the library cost?',
    'When does the swimming pool of the university close on Sunday?',
    'When does the library café close?',
    "What's for lunch in the canteen?",
    'How much does lunch cost?',
    'Can my girlfriend stay overnight in the dorm?',
    'How much does the last bus cost?',
    'How do I install the VPN client on Linux?',
    'Where is the service desk of the bank?',
    'Who can see my grades?',
    'Which languages are taught here?',
    'Does the university offer ChatGPT accounts?',
    'How do I join the Slack of my course?',
    'What time does the gym open?',
    'When is my exam in linear algebra?',
    'My card is lost in the mail, thanks',
    'Do I get a bus ticket to Paris?',
    'Who is the head of the library?',
    'How many libraries are there?',
    'How do I open a bank account?',
    'What is the phone number of the president?',
    '奖学金多少钱一张证书？',
    '食堂几点开门？',
    '图书馆在哪里？',
    '校医院几点下班？',
    '上海今天天气怎么样？',
    '快递站现在几点关门？',
    '我的成绩谁能看到？',
    '学校开设哪些语言课？',
    '怎么在学校安装正版软件？',
    '宿舍可以养猫吗？',
    '校车多少钱？',
    '学费怎么交？',
    '数据结构这门课谁教？',
    '机房的电脑密码是什么？',
    '忘记密码怎么办？',
  ])('%s', async (question) => expect((await ask({ ask: question, as: 'linxiaoyu' })).text).toMatch(DECLINED));
});
