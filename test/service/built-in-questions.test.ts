import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { composeAnswer } from '../../src/service/demo-model/compose-answer.ts';
import { DocSearch } from '../../src/service/demo-model/doc-search.ts';
import { readChatRequest } from '../../src/service/chat/chat-request.ts';
import { shippedModelsByName } from '../support/shipped-models.ts';

const docs = new DocSearch(fileURLToPath(new URL('../../', import.meta.url)));
const models = shippedModelsByName();

/** The answer of the built-in model to one question about the pages of this repository. */
async function ask(question: string): Promise<string> {
  const messages = [{ role: 'user', content: question }];
  return (await composeAnswer(readChatRequest({ model: 'svc-max', messages }, models), docs)).text;
}

test('the built-in model lists all steps that fit into one answer', async () => {
  const text = await ask('How do I connect a real WeCom bot?');
  expect(text).toMatch(/\n8\. Send the bot a message\.\n\nFrom docs\/guide\/WECOM\.md/);
  expect(await ask('怎么接入企业微信机器人？')).not.toMatch(/\n…\n/);
});

describe('English questions, answered from the matching English page and heading', () => {
  test.each([
    [
      'How do I connect a real WeCom bot?',
      'docs/guide/WECOM.md, “Connect a real WeCom bot”',
      '8. Send the bot a message',
    ],
    ['How do I connect Parley to WeCom?', 'docs/guide/WECOM.md, “Connect a real WeCom bot”', 'EncodingAESKey'],
    ['What is Parley?', 'README.md, “Parley”', 'chatbot for enterprise messaging apps'],
    ['How can I try it?', 'README.md, “Try it”', 'npm start'],
    ['Can Parley read images?', 'docs/guide/USING.md, “What Parley reads”', 'PNG, JPEG, GIF and WebP'],
    ['How do I start a new conversation?', 'docs/guide/USING.md, “Chat commands”', '/new'],
    ['What happens when a worker dies?', 'docs/guide/OPERATIONS.md, “Processes”', 'within six seconds'],
    ['What happens when Redis is away?', 'docs/guide/OPERATIONS.md, “Redis”', 'appendonly yes'],
    ['How must Redis be configured?', 'docs/guide/OPERATIONS.md, “Redis”', 'appendonly yes'],
    ['How do I monitor it with Prometheus?', 'docs/guide/DEPLOYMENT.md, “Monitoring', 'alerts.yml'],
    ['Can I run the service alone?', 'docs/reference/SERVICE.md, “Run it alone”', 'ROLES=service npm start'],
    ['What does GROUP_SCOPE mean?', 'docs/SETTINGS.md, “Chat”', 'Conversation of a mention in a group'],
    ['What is WORKER_CONCURRENCY?', 'docs/SETTINGS.md, “Redis and retention”', 'Maximum concurrent answers'],
    [
      'How does the architecture keep messages in order?',
      'docs/design/queue-protocol.md, “Order of messages”',
      'epoch',
    ],
    ['Where do I find the EncodingAESKey?', 'docs/guide/WECOM.md, “Connect a real WeCom bot”', 'callback URL'],
    ['How do I sign out?', 'docs/guide/SIGN_IN.md, “Stored data and encryption”', '/unlink'],
    ['How do I stop an answer that is being written?', 'docs/guide/USING.md, “Chat commands”', '/stop'],
    ['How are tests run?', 'README.md, “Commands and tests”', 'npm run verify'],
    ['How do I rotate the secret key?', 'docs/guide/OPERATIONS.md, “Key rotation”', 'SECRET_KEY_PREVIOUS'],
    ['How can I replace SECRET_KEY?', 'docs/guide/OPERATIONS.md, “Key rotation”', 'SECRET_KEY_PREVIOUS'],
    ['Which tools can it use?', 'docs/guide/USING.md, “What it can do”', 'TOOLS_FILE'],
    ['Where are thoughts shown?', 'docs/guide/USING.md, “What it can do”', 'THINKING_SHOWN'],
    ['How do I make a backup?', 'docs/guide/OPERATIONS.md, “Backup and restore”', 'redis-cli --rdb'],
    ['How do I upgrade?', 'docs/guide/OPERATIONS.md, “Upgrade”', 'CHANGELOG.md'],
    ['How do I connect Slack?', 'docs/guide/SLACK.md, “Connect Slack”', 'Signing Secret'],
    ['Which hosts must the firewall allow?', 'docs/guide/OPERATIONS.md, “Firewall”', 'the host of'],
    ['What does “its signature differs” mean?', 'docs/guide/OPERATIONS.md, “In the log', 'copy the token'],
    ['What may reasoning_effort be?', 'docs/reference/SERVICE.md, “', 'svc-max'],
    ['What does the sweeper do?', 'docs/ARCHITECTURE.md, “Concepts”', 'lost wakes'],
  ])('%s', async (question, source, part) => {
    const text = await ask(question);
    expect(text).toContain(source);
    expect(text).toContain(part);
    expect(text).not.toContain('zh-CN');
  });
});

describe('Chinese questions, answered from the matching Chinese page and heading', () => {
  test.each([
    ['怎样接入企业微信？', 'docs/zh-CN/WECOM.md，“接入企业微信', '8. 给机器人发一条消息'],
    ['如何对接企微机器人？', 'docs/zh-CN/WECOM.md，“接入企业微信', 'EncodingAESKey'],
    ['回调地址填什么？', 'docs/zh-CN/WECOM.md，“接入企业微信', '/webhooks/wecom'],
    ['可信域名怎么设置？', 'docs/zh-CN/WECOM.md，“接入企业微信', '网页授权及JS-SDK'],
    ['Parley 是什么？', 'README.zh-CN.md，“Parley', '聊天机器人'],
    ['它会使用工具吗？', 'docs/zh-CN/USING.md，“它能做什么', 'TOOLS_FILE'],
    ['怎样让它先思考？', 'docs/zh-CN/USING.md，“它能做什么', 'THINKING_SHOWN'],
    ['怎么试用？', 'README.zh-CN.md，“试用', 'npm start'],
    ['怎么开始新的对话？', 'docs/zh-CN/USING.md，“聊天中可以使用的指令', '/new'],
    ['能发图片吗？', 'docs/zh-CN/USING.md，“机器人能读什么', 'WebP'],
    ['Redis 要怎么配置？', 'docs/zh-CN/OPERATIONS.md，“Redis', 'appendonly yes'],
    ['怎么更换密钥？', 'docs/zh-CN/OPERATIONS.md，“更换密钥', 'SECRET_KEY_PREVIOUS'],
    ['密钥怎么轮换？', 'docs/zh-CN/OPERATIONS.md，“更换密钥', 'SECRET_KEY_PREVIOUS'],
    ['怎么部署？', 'docs/zh-CN/DEPLOYMENT.md，“Docker Compose', 'docker compose up'],
    ['worker 挂了会丢消息吗？', 'docs/zh-CN/OPERATIONS.md，“进程', '六秒'],
    ['能发语音吗？', 'docs/zh-CN/USING.md，“机器人能读什么', '能读文字、语音'],
    ['聊天记录保存多久？', 'docs/zh-CN/SIGN_IN.md，“保存什么，如何加密', 'HISTORY_TTL_DAYS'],
    ['怎么查看日志？', 'docs/zh-CN/OPERATIONS.md，“监控与日志', '日志中不会出现'],
    ['怎么停止正在生成的回答？', 'docs/zh-CN/USING.md，“聊天中可以使用的指令', '/stop'],
    ['怎么解绑？', 'docs/zh-CN/USING.md，“聊天中可以使用的指令', '/unlink'],
    ['别人转发登录链接怎么办？', 'docs/zh-CN/SIGN_IN.md，“使用者看到什么', '无法绑定任何账号'],
    ['我们没有自己的登录服务怎么办？', 'docs/zh-CN/SERVICE.md，“单独运行自带的对话与登录服务', 'ROLES=service'],
    ['防火墙要放行哪些地址？', 'docs/zh-CN/OPERATIONS.md，“防火墙', 'qyapi.weixin.qq.com'],
    ['谁可以使用？', 'docs/zh-CN/SIGN_IN.md，“谁可以使用', 'config/policy.json'],
    ['怎么备份？', 'docs/zh-CN/OPERATIONS.md，“备份与恢复', 'redis-cli --rdb'],
    ['怎么升级？', 'docs/zh-CN/OPERATIONS.md，“升级', 'docker compose build'],
    ['GROUP_SCOPE 是什么意思？', 'docs/zh-CN/SETTINGS.md，“对话', '在群里 @ 机器人时的对话'],
  ])('%s', async (question, source, part) => {
    const text = await ask(question);
    expect(text).toContain(`出处：${source}”`);
    expect(text).toContain(part);
    expect(text).not.toContain('原文');
  });

  test.each([['队列的内部架构是怎样的？', 'docs/design/queue-protocol.md', 'one worker at a time']])(
    'the built-in model quotes English text if only an English page fits: %s',
    async (question, source, part) => {
      const text = await ask(question);
      expect(text).toContain(source);
      expect(text).toContain(part);
      expect(text).toContain('仅英文文档中有相关内容，原文如下');
    },
  );
});

test.each([
  'What is the capital of France?',
  'Write a poem about the sea',
  'When does the library close?',
  '今天天气怎么样？',
  '推荐一家好吃的餐厅',
  '图书馆几点关门？',
  '毕业论文怎么写？',
  '怎么申请奖学金？',
])('the built-in model says that it does not know: %s', async (question) =>
  expect(await ask(question)).toMatch(/small demo model and cannot answer|小型演示模型，无法回答/),
);

test('an excerpt has no dead link, no table header and no image caption', async () => {
  const text = await ask('怎样使用自带的登录服务和对话服务？');
  expect(text).toContain('文件的写法见下面');
  expect(text).not.toContain('](../');
  expect(await ask('能发图片吗？')).not.toContain('中文说法');
  expect(await ask('Can I use it in a group?')).not.toContain('The sign-in inside the app');
});
