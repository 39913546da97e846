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
    'How do I cancel my subscription?',
    'Can I bring my dog to the office?',
    'How many days of paternity leave do I get?',
    'Does the library have a printer?',
    'Can I use my card to open the door of the lab?',
    'How long does it take to walk to the west campus?',
    'Can I change my dorm room?',
    'Is there a washing machine in the dormitory?',
    'When does the summer holiday start?',
    'How long is the library?',
    'When was the scholarship founded?',
    'Who is my tutor?',
    'Where can I buy a book?',
    'Can I keep a bike on the bus?',
    '宿舍一年多少钱？',
    '产假有几天？',
    '图书馆可以打印吗？',
    '怎么换宿舍？',
    'VPN 账号被封了怎么办？',
    '考试作弊会怎么样？',
    '选课什么时候开始？',
    '毕业典礼哪天？',
    '哪里可以买二手书？',
    '补课时间',
    'Where is the nearest cash machine?',
    'How do I get a parking permit?',
    'Is breakfast included in the hotel allowance?',
    'What colour is the campus card?',
    'How many pages may I print?',
    'Can I retake an exam?',
    'How do I join the football club?',
    'Do you have a girlfriend?',
    'My friend is sick, what should I do?',
    '图书馆馆长是谁？',
    '怎么申请换专业？',
    '食堂几点开饭？',
    '奖学金什么时候发？',
    '游泳馆怎么预约？',
    '我的工资什么时候发？',
  ])('%s', async (question) => expect((await ask({ ask: question, as: 'linxiaoyu' })).text).toMatch(DECLINED));
});

describe('questions about the sample documents in everyday words, answered from the right one', () => {
  test.each([
    ['linxiaoyu', '借的书弄丢了要赔多少？', '20 元'],
    ['emma.clarke', 'Where can I find out what time the library shuts at weekends?', '21:00'],
    ['emma.clarke', "What's the cost of getting a new card?", '15 yuan'],
    ['emma.clarke', 'Is there a guest network for visitors?', 'YHU-Guest'],
    ['emma.clarke', 'What day does the semester begin?', '7 September'],
    ['emma.clarke', 'How long is the winter break?', '23 January'],
    ['emma.clarke', "Do I need a doctor's note if I'm ill?", 'certificate'],
    ['emma.clarke', 'For how long can I keep a book at home?', '90 days'],
    ['emma.clarke', 'How do I top up my card?', 'canteen'],
    ['daniel.okoye', 'when must i be home at the dorm?', '23:30'],
    ['daniel.okoye', 'What grades do I need for a scholarship?', 'best five'],
    ['daniel.okoye', 'How many novels can I take out at once?', '20 books'],
    ['daniel.okoye', 'How often does the shuttle go?', '20 minutes'],
    ['daniel.okoye', 'lost my id card help', '8800-1200'],
    ['daniel.okoye', 'By what time must my friends be out of the dormitory?', '22:00'],
    ['daniel.okoye', 'How much money is the scholarship worth?', '8,000'],
    ['daniel.okoye', 'How long may I hold on to a library book?', '30 days'],
    ['daniel.okoye', 'I lost a library book. What will it cost me?', '20 yuan'],
    ['emma.clarke', 'Is the library open on public holidays?', 'closed'],
    ['emma.clarke', 'Somebody stole my campus card!', '8800-1200'],
    ['emma.clarke', "What's the most money I can have on my card?", '1,000'],
    ['emma.clarke', 'How do I connect to the university network from outside?', 'vpn.yunhe'],
    ['emma.clarke', 'What time does the shuttle to the hospital start running?', '08:00'],
    ['emma.clarke', 'How soon after a trip must I hand in my receipts?', '30 days'],
    ['emma.clarke', 'How early must I request vacation?', 'three working days'],
    ['daniel.okoye', 'When does winter vacation start?', '23 January'],
    ['emma.clarke', 'Does the library open on Sunday mornings?', '21:00'],
    ['emma.clarke', 'What do I pay for a second card?', '15 yuan'],
    ['emma.clarke', 'Which wifi should my visitor use?', 'YHU-Guest'],
    ['emma.clarke', "What's the earliest bus between the campuses?", '06:50'],
    ['emma.clarke', 'When does the exam period begin?', '11 to 22 January'],
    ['emma.clarke', "I've got the flu. What do I have to do?", 'first day'],
    ['daniel.okoye', "What's the curfew in the student residence?", '23:30'],
    ['chenguodong', '图书馆周末几点闭馆？', '21:00'],
    ['chenguodong', '补一张新卡要多少钱？', '15 元'],
    ['chenguodong', '怎么连学校的无线网？', 'YHU-Campus'],
    ['chenguodong', '一年可以休几天假？', '5 天'],
    ['chenguodong', '出差住酒店能报多少钱？', '500 元'],
    ['chenguodong', '学校班车几点发车？', '06:50'],
    ['chenguodong', '这学期哪天开学？', '9 月 7'],
    ['chenguodong', '借的书可以续借吗？', '两次'],
    ['linxiaoyu', '晚上几点前要回宿舍？', '23:30'],
    ['linxiaoyu', '朋友可以在我宿舍过夜吗？', '22:00'],
    ['linxiaoyu', '奖学金什么时候截止？', '9 月 15'],
    ['linxiaoyu', '一次最多能借几本？', '20 册'],
    ['linxiaoyu', '宿舍水管坏了找谁修？', '8800-1300'],
    ['linxiaoyu', '放假时间', '1 月 23'],
    ['linxiaoyu', '客人最晚几点要离开宿舍？', '22:00'],
    ['linxiaoyu', '奖学金有多少钱？', '8000'],
    ['linxiaoyu', '借来的书什么时候要还？', '30 天'],
    ['linxiaoyu', '怎么预约阅览室的座位？', '图书馆应用'],
    ['chenguodong', '法定节假日图书馆开门吗？', '闭馆'],
    ['chenguodong', '在哪里领新的校园卡？', '104'],
    ['chenguodong', '在家怎么访问校内网站？', 'vpn'],
    ['chenguodong', '访客的无线网能用多久？', '24 小时'],
    ['chenguodong', '校车多久一班？', '20 minutes'],
    ['chenguodong', '工作十年的人有几天年假？', '10 天'],
    ['chenguodong', '请病假要不要医院证明？', '证明'],
    ['chenguodong', '寒假放到几号？', '2 月 21'],
    ['linxiaoyu', '考试周图书馆开到多晚？', '零点'],
    ['linxiaoyu', '新卡什么时候能拿到？', '104'],
    ['linxiaoyu', '怎样在校外登录校园网？', 'vpn'],
    ['linxiaoyu', '最早一班校车几点？', '06:50'],
    ['linxiaoyu', '什么时候期末考试', '1 月 11'],
    ['linxiaoyu', '宿舍周末几点锁门？', '24:00'],
  ])('%s: %s', async (as, question, must) => expect((await ask({ ask: question, as })).text).toContain(must));
});
