import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createBuiltInEngine } from '../../src/service/demo-model/built-in-engine.ts';
import { composeAnswer } from '../../src/service/demo-model/compose-answer.ts';
import { DocSearch } from '../../src/service/demo-model/doc-search.ts';
import { readChatRequest } from '../../src/service/chat/chat-request.ts';
import { shippedModelsByName } from '../support/shipped-models.ts';
import { tries } from '../support/tries.ts';

const docs = new DocSearch(fileURLToPath(new URL('../../', import.meta.url)));
const models = shippedModelsByName();

function answer(question: string, tools: string[] = []) {
  const declared = tools.map((name) => ({
    type: 'function',
    function: { name, description: 'd', parameters: { type: 'object', properties: {} } },
  }));
  const body = { model: 'svc-max', messages: [{ role: 'user', content: question }] };
  return composeAnswer(readChatRequest(declared.length > 0 ? { ...body, tools: declared } : body, models), docs);
}
const ask = async (question: string) => (await answer(question)).text;

const UNKNOWN =
  /^(?:I'm only a small demo model and cannot answer this; [^.]*“Connect your own model”\)\.|我只是一个小型演示模型，无法回答这个问题；[^。]*“接入自己的模型”）。)$/;

describe('questions unrelated to Parley, not answered from its pages', () => {
  test.each([
    'Why is the sky blue?',
    'How many people live in Shanghai?',
    'Which group of people lives in the mountains of Peru?',
    'How do I cook rice?',
    'Translate "good morning" into French',
    'Summarise the theory of relativity',
    'What is machine learning?',
    'How do I fix my printer?',
    'When does the semester start?',
    'How do I reset my bank password?',
    'Can you book a meeting room for me?',
    "What's for lunch in the canteen?",
    'What is the best laptop for students?',
    'Who is the president of China?',
    'I have a headache',
    '10 or 20',
    '为什么天是蓝的？',
    '上海有多少人？',
    '忘记密码怎么办？',
    '什么是机器学习？',
    '食堂今天有什么菜？',
    '帮我写一封邮件',
    '期末考试什么时候？',
  ])('%s', async (question) => {
    // One sentence, which says what answers and how to get real answers.
    expect(await ask(question)).toMatch(UNKNOWN);
  });
});

describe('hand-written answers to first questions of new users', () => {
  test.each([
    ['Is my data sent to anybody?', 'the model that answers'],
    ['我的数据会发给别人吗？', '负责回答的模型'],
    ['Who can use it?', 'config/policy.json'],
    ['谁可以使用它？', 'config/policy.json'],
    ['Can it answer from our documents?', 'Yes. The administrator lists'],
    ['它能根据我们的文档回答吗？', '可以。管理员在'],
    ['What can I try?', 'count slowly'],
    ['what should I ask you first?', 'count slowly'],
    ['我可以试些什么？', '慢慢数'],
    ['How do I connect my own model?', 'CHAT_BASE_URL'],
    ['how can I use a real LLM?', 'CHAT_BASE_URL'],
    ['怎么接入自己的模型？', 'CHAT_BASE_URL'],
    ['Are you ChatGPT?', 'OpenAI-compatible chat API'],
    ['Does it work with DeepSeek or Ollama?', 'OpenAI-compatible chat API'],
    ['能用通义千问吗？', 'OpenAI 对话接口'],
    ['Why are you so dumb?', 'not a language model'],
    ['你怎么这么笨？', '不是语言模型'],
    ['What happens if you crash?', 'exactly one answer'],
    ['你崩溃了怎么办？', '只有一个'],
    ['Is my data private?', 'encrypted'],
    ['Who can see my questions?', 'encrypted'],
    ['别人能看到我的问题吗？', '加密'],
    ['Why do I have to sign in?', '/signin'],
    ['怎么登录？', '发送 `登录`'],
    ['Can I use it in a group?', 'mention'],
    ['怎么在群里使用？', '@'],
    ['Which platforms are there?', 'WeCom and Slack'],
    ['支持哪些平台？', '企业微信和 Slack'],
    ['Do you speak Chinese?', 'English and Chinese'],
    ['你会说英语吗？', '中文和英文'],
    ['Is this real?', 'local mode'],
    ['本地模式是什么？', '本地模式'],
    ['How do I become another person?', 'Signed in as'],
    ['怎么换一个人？', '标签页'],
    ['Is it free?', 'MIT'],
    ['开源吗？', 'MIT'],
    ['Delete my data', '/forget'],
    ['怎么删除我的数据？', '`清除`'],
    ['How do we set this up for our university?', 'npm run check'],
    ['怎么在我们学校部署？', 'npm run check'],
    ['How does it work?', 'stores it before'],
    ['它是怎么工作的？', '先保存'],
    ['What is your name?', 'Parley'],
    ['Who made you?', 'small team'],
    ['谁开发的你？', '小团队'],
    ['ping', 'everything works'],
    ['在吗', '你好'],
    ['What is the meaning of life?', 'what can I try'],
    ['你喜欢我吗？', '展示 Parley'],
    ['Tell me a joke', 'queue'],
    ['讲个笑话', '队列'],
    ['Show me a table', '| Planet |'],
    ['给我看一张表格', '| 行星 |'],
    ['show me some code', '```python'],
    ['给我看一段代码', '```python'],
  ])('%s', async (question, part) => expect(await ask(question)).toContain(part));

  test.each([
    ['What happens when a worker dies?', 'Processes'],
    ['How do I connect WeCom?', 'Connect a real WeCom bot'],
    ['How do I connect Slack?', 'Connect Slack'],
    ['What does SIGN_IN_SCOPE mean?', 'docs/SETTINGS.md, “Sign-in”'],
  ])("the built-in model still answers an administrator's question from the pages: %s", async (question, section) =>
    expect(await ask(question)).toContain(section),
  );
});

test('the built-in model counts slowly, two tokens per second, until it is stopped, and otherwise at the default pace', async () => {
  const slow = await answer('count slowly until I stop you');
  expect(slow).toMatchObject({ tokensPerSec: 2, text: expect.stringMatching(/^1 2 3 4 .* 300 /) as unknown });
  expect((await answer('慢慢数，直到我叫停')).tokensPerSec).toBe(2);
  expect((await answer('count to 30')).tokensPerSec).toBeUndefined();
});

test('the built-in engine streams a slow answer at its own pace', async () => {
  const engine = createBuiltInEngine({ docsDir: '/nonexistent', tokensPerSec: Infinity, nowMs: () => 0 });
  const messages = [{ role: 'user', content: 'count slowly until I stop you' }];
  const request = readChatRequest({ model: 'svc-max', messages, stream: true }, models);
  const stop = new AbortController();
  let lines = 0;
  const write = () => {
    lines += 1;
    // The beginning (role and first number) comes at once.
    if (lines === 3) stop.abort();
    return true;
  };
  const startedAtMs = performance.now();
  await engine.stream(request, stop.signal, { write, drained: () => Promise.resolve() }).catch(() => undefined);
  expect(lines).toBe(3);
  expect(performance.now() - startedAtMs).toBeGreaterThan(400);
});

describe('the list of abilities', () => {
  const ALL = ['current_time', 'who_am_i', 'web_search', 'read_page'];
  const EXAMPLES = ['What time is it?', 'Do you know who I am?', 'Search for otters', 'https://example.org'];

  test('has one example for each declared tool', async () => {
    for (const [index, tool] of ALL.entries()) {
      const { text } = await answer('what can you do?', [tool]);
      expect(EXAMPLES.map((example) => text.includes(example))).toEqual(EXAMPLES.map((_, other) => other === index));
    }
    const all = (await answer('你能做什么？', ALL)).text;
    for (const example of ['现在几点', '我是谁', '搜索水獭', 'example.org']) expect(all).toContain(example);
  });

  test('has no tool example without tools', async () => {
    const { text } = await answer('what can you do?');
    for (const example of [...EXAMPLES, 'tools']) expect(text).not.toContain(example);
    expect(text).not.toContain('\n\n\n');
  });
});

describe('sums in the built-in model', () => {
  test.each([
    ['2+2', '2+2 = 4'],
    ['What is 2 + 2?', '2 + 2 = 4'],
    ['what is (1+2)*3^2 ?', '(1+2)*3^2 = 27'],
    ['2^3^2', '2^3^2 = 512'],
    ['-3 - -4', '-3 - -4 = 1'],
    ['计算 1,000 × 3', '1,000 × 3 = 3000'],
    ['3÷4等于多少？', '3÷4 = 0.75'],
    ['0.1+0.2', '0.1+0.2 = 0.3'],
    ['1/0', 'no finite result'],
  ])('%s', async (question, result) => expect(await ask(question)).toContain(result));

  test.each(['2+', '(1+2', '1..2+3', '2026-11-', '1 2 + 3'])('do not include %s', async (question) =>
    expect(await ask(question)).not.toContain('='),
  );

  interface Term {
    text: string;
    value: number;
  }
  const { sum } = fc.letrec<{ sum: Term; single: Term }>((tie) => ({
    single: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      fc.nat(99).map((value) => ({ text: String(value), value })),
      tie('sum').map(({ text, value }) => ({ text: `(${text})`, value })),
    ),
    sum: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      tie('single'),
      fc.tuple(tie('single'), fc.constantFrom('+', '-', '*'), tie('single')).map(([left, sign, right]) => ({
        text: `${left.text} ${sign} ${right.text}`,
        value:
          sign === '+' ? left.value + right.value : sign === '-' ? left.value - right.value : left.value * right.value,
      })),
    ),
  }));

  test('have the correct result for any sum of whole numbers', async () => {
    await fc.assert(
      fc.asyncProperty(sum, async ({ text, value }) => {
        fc.pre(/[+*-]/.test(text) && text.length <= 100 && Math.abs(value) < 1e11);
        expect(await ask(text)).toBe(`${text} = ${value}`);
      }),
      { numRuns: tries(200) },
    );
  });
});

test('lists all commands without slashes where the app reserves slashes', async () => {
  const engine = createBuiltInEngine({
    docsDir: '/nonexistent',
    tokensPerSec: Infinity,
    bareWords: true,
    nowMs: () => 0,
  });
  const messages = [{ role: 'user', content: 'Which commands do you know?' }];
  const request = readChatRequest({ model: 'svc-max', messages }, models);
  const text = JSON.stringify(await engine.complete(request, new AbortController().signal));
  expect(text).toMatch(/`sources`[^]*`ref`/);
  expect(text).not.toMatch(/`\//);
});
