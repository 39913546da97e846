import { localize, type Bilingual } from '../../shared/text/texts.ts';
import { concernsOnlyUs } from './about-us.ts';
import type { Finding, Question } from './finding.ts';
import { BUILT_IN_TEXTS } from './built-in-texts.ts';

interface CommonQuestion {
  /** Matches the whole question or its significant part, in English or Chinese. */
  asks: RegExp;
  answer: Bilingual;
}

/** Hand-written answers to the first questions of new users. The pages answer them at length, for administrators. */
const COMMON_QUESTIONS: readonly CommonQuestion[] = [
  {
    asks: /\bwhat(?: can| should| could)? (?:i|to|we) (?:try|ask(?: you)?(?: first)?|do (?:here|now|first|next))\b|\b(?:surprise|impress|show) me(?: something| what you (?:can|got))?[\s!.]*$|(?:能|可以|该|先)(?:试|问|做)(?:些|点)?什么|(?:给|让)我(?:看看|惊喜)/i,
    answer: {
      en: 'Five things to try:\n\n1. “count slowly until I stop you”, then press Stop (or send `/stop`)\n2. “who am I?” or `/whoami`, which shows your sign-in\n3. “show me a table” or “show me some code”\n4. send an image\n5. `/think high`, then any question: the reasoning is shown separately from the answer\n\nIn a group, mention me by name.',
      zh: '可以试试下面五件事：\n\n1. “慢慢数，直到我叫停”，然后点击“停止”（或发送 `停止`）\n2. “我是谁？”或 `我是谁`：查看当前登录的身份\n3. “给我看一张表格”或“给我看一段代码”\n4. 发一张图片\n5. 发送 `思考 高`，再随便问一个问题：思考过程与回答分开显示\n\n在群里请 @ 我。',
    },
  },
  {
    asks: /\bhow (?:do|can|could|would|should) (?:i|we) (?:connect|use|add|plug in|set up|bring|attach)\b[^?]{0,20}\b(?:own|real|another|different|better|our|llm)\b[^?]{0,20}\b(?:model|engine|llm|chat service)\b|\b(?:connect|use) (?:a |an |my |our )?(?:own |real )?(?:model|llm)\b|(?:接入|连接|使用|换成|用)(?:我们?)?(?:自己|真正|别|其他|更好)的?(?:大)?模型/i,
    answer: {
      en: 'To try it here, press “Connect your own model” at the top of this page. To set it up for your colleagues:\n\n1. Write the address of your model into `config/.env`. Any service with an OpenAI-compatible chat API works:\n   ```sh\n   CHAT_BASE_URL=https://your-service.example/v1\n   CHAT_API_KEY=…\n   CHAT_MODELS=name-of-the-model\n   ```\n   While no messaging app is connected, add `MESSENGER_PROTOCOL=wecom` to confirm local mode.\n2. Run `npm run check`: it sends the model one short question and reports any error.\n3. Restart. That model then answers here instead of me.\n\nTo keep Parley’s own chat API in front of an engine, set `SERVICE_UPSTREAM_URL` instead.',
      zh: '在这里试用：点击页面顶部的“接入自己的模型”。给同事用，三步即可：\n\n1. 在 `config/.env` 里写上模型的地址，任何兼容 OpenAI 对话接口的服务都可以：\n   ```sh\n   CHAT_BASE_URL=https://your-service.example/v1\n   CHAT_API_KEY=…\n   CHAT_MODELS=模型名称\n   ```\n   还没有接入办公应用时，再加一行 `MESSENGER_PROTOCOL=wecom`，用于确认使用本地模式。\n2. 运行 `npm run check`：它会向模型发送一个简短的问题，并报告错误。\n3. 重新启动。此后由该模型代替我回答。\n\n如果想保留 Parley 自带的对话接口，只换后面的引擎，请改为设置 `SERVICE_UPSTREAM_URL`。',
    },
  },
  {
    asks: /\b(?:open ?ai|(?:chat ?)?gpt|claude|gemini|llama|qwen|deepseek|mistral|ollama|vllm|azure)\b|通义|千问|文心|豆包|智谱/i,
    answer: {
      en: 'No. But Parley works with any service with an OpenAI-compatible chat API: hosted services, or your own with vLLM, Ollama and so on. Ask me “how do I connect my own model?”.',
      zh: '都不是。不过 Parley 可以接入任何兼容 OpenAI 对话接口的服务，包括云服务，以及用 vLLM、Ollama 等自行部署的模型。可以问我：“怎么接入自己的模型？”',
    },
  },
  {
    asks: /\b(?:why are you|you are|you're|are you) (?:so |very |really )?(?:dumb|stupid|limited|useless|bad|slow|simple)\b|\byou (?:know|understand) nothing\b|\bwhy (?:can't|cannot|don't) you (?:answer|know|understand)\b|你(?:怎么|为什么)?(?:这么|好|太|真)(?:笨|傻|蠢|弱|没用)|你(?:怎么|为什么)(?:什么都)?(?:不懂|不会|不知道|答不)/i,
    answer: {
      en: 'Because I am not a language model: I consist of a few rules and a search of Parley’s own documentation, so that you can try everything else without an account. The rest is real: sign-in, live answers, stopping, message order and groups. Ask me “how do I connect my own model?”.',
      zh: '因为我不是语言模型，只包含一些规则和对 Parley 文档的搜索，让你无需账号就能体验其他功能。除我之外的功能（登录、逐步生成的回答、停止、消息顺序、群聊）都是真实的。可以问我：“怎么接入自己的模型？”',
    },
  },
  {
    asks: /\bwhat (?:happens|if|would happen)\b[^?]{0,30}\b(?:you|bot|parley|server|process) (?:crash|die|stop|fail|go down|are killed|is killed|restart)|\bkill(?:ed)? (?:you|the bot)\b|(?:你|机器人|服务器|进程)(?:如果|要是)?(?:崩溃|挂了|死了|宕机|重启)/i,
    answer: {
      en: 'You still get exactly one answer. Every message is stored before its receipt is confirmed to the app. If the answering process dies, another one continues in the same message, usually within ten seconds. Try it: ask me to “count slowly until I stop you”, and meanwhile press “Kill the bot now” in the tour on this page.',
      zh: '你仍会得到回答，且只有一个。每条消息都先保存，再向应用确认收到；如果正在回答的进程崩溃，另一个进程会在同一条消息中继续，通常在十秒之内。可以试试：让我“慢慢数，直到我叫停”，同时在本页的导览里点击“立即强制结束机器人”。',
    },
  },
  {
    asks: /\b(?:is (?:this|it|my (?:chat|data|question|message)s?)|are (?:my|our) (?:chats|data|questions|messages|conversations)) (?:really )?(?:private|secret|safe|secure|confidential|stored|logged|kept)\b|\b(?:is|are|do(?:es)?|will) (?:my|our) (?:chats?|data|questions?|messages?|conversations?) (?:be )?(?:sent|send|sold|sell|given|give|passed|pass|shared?)\b|\bwho (?:can|could|may|will) (?:see|read)\b|\bdo you (?:store|keep|save|log|remember)\b|(?:谁|别人|管理员|其他人)(?:能|可以|会)?(?:看到|看见|读到|知道)|(?:会|是否)?(?:保存|记录|泄露)(?:我的)?(?:聊天|对话|消息|数据|隐私)|(?:聊天|对话|消息|数据)(?:安全|保密|私密)吗|(?:聊天|对话|消息|数据|内容)(?:会|是否)(?:会)?(?:被)?(?:发|传|交|送|卖|泄露)/i,
    answer: {
      en: 'Your messages are visible to you, the messaging app and the model that answers. Parley keeps the conversation encrypted to keep its context, and deletes it after 30 days unless the administrator changed that. Logs never contain message text. In a group all members see question and answer. `/export` exports the saved conversation, `/forget` deletes it.',
      zh: '你写的内容只有你、所用的办公应用和负责回答的模型能看到。为保持上下文，Parley 会加密保存对话，默认 30 天后删除（管理员可以更改）；日志不记录消息内容。在群里，问题和回答对所有群成员可见。`导出` 导出已保存的对话，`清除` 将其删除。',
    },
  },
  {
    asks: /\bwho (?:can|could|may|is allowed to|will be able to) use (?:it|this|parley|you|the bot)\b/i,
    answer: {
      en: 'Everyone who can message the bot in the messaging app and signs in, unless the administrator set a rule: `config/policy.json` says who may use it, with which models and in which chats; docs/guide/SIGN_IN.md, “Who may use the bot”, shows how.',
      zh: '能在办公应用里给机器人发消息并登录的人都可以使用，除非管理员设置了规则。可用人员、模型和聊天范围写在 `config/policy.json` 里，说明见 docs/zh-CN/SIGN_IN.md。',
    },
  },
  {
    asks: /\b(?:can|could|does|do|will) (?:it|you|parley|the bot) (?:answer|know|read|search|use|learn)s?\b[^?]{0,20}\b(?:our|my|own|internal|company|school|university) (?:own )?(?:documents?|docs|files?|pages?|wiki|knowledge|intranet)\b|(?:根据|读取?|使用|搜索|查)(?:我们?|本单位|学校|公司|内部|自己)的?(?:内部)?(?:文档|资料|文件|知识库)/i,
    answer: {
      en: 'Yes. The administrator lists folders, sites or retrieval services, and who may read them, in `config/knowledge.json`. Each person gets answers, with sources, only from documents they may read. docs/guide/KNOWLEDGE.md shows how. You can also send me a file.',
      zh: '可以。管理员在 `config/knowledge.json` 里写明文件夹、网站或检索服务，以及谁可以查阅；每个人只会得到自己有权查阅的文档中的回答，并附来源。说明见 docs/zh-CN/KNOWLEDGE.md。你也可以直接发文件给我。',
    },
  },
  {
    asks: /\bwhy (?:do|must|should|would) (?:i|we) (?:have to |need to )?(?:sign|log) ?in\b|\b(?:how|where) (?:do|can|should) (?:i|we) (?:sign|log) ?in\b(?! (?:in)?to (?!you\b|parley|the bot|this)| (?:for|at|on) )|(?:为什么|为何)(?:要|需要|必须)登[录陆]|(?:怎么|如何|在哪(?:里|儿)?)登[录陆](?!\p{Script=Han})|(?:怎么|如何|在哪(?:里|儿)?)登[录陆](?=你|机器人|这里|[呢啊呀吗])/iu,
    answer: {
      en: 'Send `/signin` and open the link: your institution’s own sign-in confirms your identity once, inside the app. I then answer with your permissions, and no one else can use your link. `/whoami` shows who is signed in, `/unlink` signs you out.',
      zh: '发送 `登录` 并打开链接：由本单位自己的统一身份认证（登录服务）在应用内确认你的身份，只需一次。此后我按你的身份和权限回答，他人无法使用你的链接。`我是谁` 查看当前身份，`解绑` 退出登录。',
    },
  },
  {
    asks: /\b(?:how|can) (?:do|can|could)? ?(?:i|we) (?:use|ask|talk to|call|mention|add|invite)\b[^?]{0,20}\b(?:group|channel)s?\b|(?:怎么|如何|能|可以)(?:在)?群(?:里|聊|组)?(?:中|里)?(?:怎么|如何)?(?:用|使用|问|提问|@|添加|加)/i,
    answer: {
      en: 'Add the bot to the group and mention it: “@Parley when is the next holiday?”. It answers in the group. Each person has a separate conversation in a group unless the administrator chose a shared one (`GROUP_SCOPE`).',
      zh: '把机器人加到群里，然后 @ 它提问，例如：“@Parley 下一个假期是什么时候？”它会在群里回答你。每个人在群里有各自的对话，除非管理员设为共用（`GROUP_SCOPE`）。',
    },
  },
  {
    asks: /\b(?:what|which) (?:apps?|platforms?|messengers?)\b|\b(?:does it|do you|can it|can you) (?:work|run) (?:with|in|on) (?:teams|discord|telegram|whatsapp|wechat|lark)\b|(?:支持|能用在)(?:哪些|什么)(?:平台|应用|软件)/i,
    answer: {
      en: 'WeCom and Slack. The messenger of local mode uses their protocols, so you see here what your colleagues see there. Ask me “how do I connect WeCom?” or “how do I connect Slack?”.',
      zh: '目前支持企业微信和 Slack。本地模式的聊天页面使用相同的协议，因此效果与同事看到的一致。可以问我：“怎样接入企业微信？”或“怎样接入 Slack？”',
    },
  },
  {
    asks: /\b(?:what|which) languages?\b|\b(?:do|can|could) you (?:speak|understand|answer in|write) (?:chinese|english|french|german|spanish|japanese|korean|mandarin)\b|(?:会|能)(?:说|讲|用)(?:中文|英文|英语|汉语|什么语言|哪些语言)|支持(?:哪些|什么)语言/i,
    answer: {
      en: 'Parley’s own texts are in English and Chinese and follow the language that you write in; `/lang` sets one. A real model answers in all its languages; I know only these two.',
      zh: 'Parley 的界面文字有中文和英文，随你使用的语言切换；`语言` 可以固定一种。真正的模型支持的语言都能用于回答；我只会这两种。',
    },
  },
  {
    asks: /\b(?:what|where) is (?:this|local mode|the local mode|the messenger|the service)\b|\bis (?:this|it) (?:real|a demo|a test|fake)\b|\blocal mode\b|本地模式|(?:这|这里)是(?:什么|哪里|演示|测试|真的吗)/i,
    answer: {
      en: 'This is Parley’s local mode, if you started it with `npm start` alone: a messaging app in the browser, a sign-in service with made-up people, and me as the model, all on this machine. Only the bot is real, and uses the same protocols as with WeCom and Slack.',
      zh: '如果只用 `npm start` 启动，这就是 Parley 的本地模式：浏览器里的办公应用、带虚构人员的登录服务，以及作为模型的我，全在这台机器上。其中的机器人是真实的，通信方式与接入企业微信、Slack 时相同。',
    },
  },
  {
    asks: /\b(?:be|become|log in as|sign in as|switch to|use) (?:another|a different|a second|someone else|somebody else|other) ?(?:person|user|people|account)?\b|\bsecond person\b|(?:换|切换)(?:成|到)?(?:一个|另一个|别的|其他)?(?:人|用户|身份|账号)|第二个人/i,
    answer: {
      en: 'In local mode, choose another user under “Signed in as” in the top-left corner. A second browser tab can be another user at the same time. In a real messaging app, you are always signed in as yourself.',
      zh: '本地模式下，在页面左上角的“当前身份”处选择另一个人即可；新开一个浏览器标签页，可以同时使用另一个身份。在真正的办公应用里，始终使用你本人的身份。',
    },
  },
  {
    asks: /\b(?:is (?:it|this|parley) (?:free|open[\s-]?source)|how much (?:does|is)|what does (?:it|parley) cost|licen[cs]e|price)\b|(?:免费|开源|收费|多少钱|许可证|价格)/i,
    answer: {
      en: 'Parley is free software under the MIT licence; which you host yourself. The provider of your model may charge for its use.',
      zh: 'Parley 是采用 MIT 许可证的自由软件，由你自行运行。接入的模型可能由其提供方收费。',
    },
  },
  {
    asks: /\b(?:delete|erase|remove|clear|forget) (?:everything|all|my|our|this|the) ?(?:data|chats?|history|conversations?|messages?|me)?\b|\bforget me\b|(?:删除|清除|清空|忘记)(?:我的|所有|全部|这些)?(?:数据|聊天|对话|记录|历史|消息|我)/i,
    answer: {
      en: '`/forget` immediately deletes your data in this chat; `/new` only starts a new conversation. `/unlink` signs you out and deletes your sign-in.',
      zh: '`清除` 立即删除你在此聊天中的数据；`新对话` 仅开始新的对话。`解绑` 退出登录并删除登录信息。',
    },
  },
  {
    asks: /\bhow (?:do|can|could|should) (?:i|we) (?:install|deploy|set (?:it|this|parley) up|set up|roll (?:it|this) out|run (?:it|this|parley) (?:for|in) (?:my|our))\b|\bset ?up (?:for|in|at) (?:my|our)\b|(?:怎么|如何)(?:在)?(?:我们?)?(?:学校|单位|公司|机构)(?:里)?(?:用|使用|部署|安装|上线)/i,
    answer: {
      en: 'In about an hour, in this order:\n\n1. Your model: `CHAT_BASE_URL`, `CHAT_API_KEY`, `CHAT_MODELS`.\n2. Your sign-in: `SIGN_IN_URL` and the client that it issues.\n3. Your messaging app: ask me “how do I connect WeCom?” or “how do I connect Slack?”.\n4. `npm run check`, which tests each of them and reports errors.\n\nYou also need Redis and a public https address; docs/guide/WECOM.md and docs/guide/SLACK.md have every step.',
      zh: '大约一小时，按下面的顺序：\n\n1. 模型：`CHAT_BASE_URL`、`CHAT_API_KEY`、`CHAT_MODELS`。\n2. 登录：`SIGN_IN_URL`，以及登录服务分配的客户端。\n3. 办公应用：可以问我“怎样接入企业微信？”或“怎样接入 Slack？”\n4. `npm run check` 逐项检测，并指出需要修改的地方。\n\n此外只需要 Redis 和一个公网 https 地址；每一步都写在 docs/zh-CN 的页面里。',
    },
  },
  {
    asks: /\bhow (?:does|do) (?:it|this|parley|you|the bot) (?:all )?works?\b|(?:你|它|Parley)\s?是?(?:怎么|如何)(?:工作|运行|运作|实现)的?/i,
    answer: {
      en: 'The messaging app sends each message to Parley, which stores it before confirming its receipt. A worker takes the messages of a conversation in order, sends them to the model on your behalf, and updates the answer in the chat. If a worker dies, another continues. Ask “how does the architecture keep messages in order?” for details.',
      zh: '办公应用把每条消息发给 Parley，Parley 先保存，再确认收到。工作进程按顺序处理对话中的消息，以你的身份请求模型，并在聊天中逐步显示回答；如果一个进程崩溃，另一个会继续。想了解内部原理，可以问：“队列的内部架构是怎样的？”',
    },
  },
  {
    asks: /\bwhat(?:'s| is) your name\b|你叫什么(?:名字)?|你的名字/i,
    answer: {
      en: 'Parley, unless the administrator gave me another name. At the moment its small built-in model answers.',
      zh: 'Parley，除非管理员设置了别的名称。当前由内置的小模型回答。',
    },
  },
  {
    asks: /\bwho (?:made|built|wrote|created|develop(?:s|ed)|owns) (?:you|this|it|parley)\b|(?:谁|哪(?:个|家))(?:做|开发|创造|编写|发明)(?:了|的)?(?:你|它|Parley)|你是谁(?:做|开发|创造)的/i,
    answer: {
      en: 'A small team that wants every message in a messaging app to get exactly one answer, in order. The code is open source; contributions are welcome.',
      zh: '一个小团队，希望办公应用里的每条消息都按顺序得到且只得到一个回答。代码已开源，欢迎参与贡献。',
    },
  },
  {
    asks: /^(?:test(?:ing)?|ping|are you (?:there|awake|alive|online|working)|is anybody (?:there|here)|anyone (?:there|here)|测试|(?:你)?在(?:吗|不在|线吗))[\s\d!.?,。！？，]*$/i,
    answer: {
      en: 'Yes, everything works. To see what I can do, ask “what can I try?”.',
      zh: '在的，一切正常。想了解我能做什么，可以问：“我可以试些什么？”',
    },
  },
  {
    asks: /\bwhat(?:'s| is) (?:the )?meaning of (?:life|it all)\b|\bdo you (?:love|like) me\b|\bare you (?:happy|sad|tired|human|alive)\b|你(?:爱|喜欢)我吗|你(?:开心|快乐|累)吗|人生(?:的)?意义/i,
    answer: {
      en: 'I cannot do this, because I consist only of a few rules and a search. I am here to demonstrate the rest of Parley: ask “what can I try?”.',
      zh: '我只有一些规则和搜索，做不到这一点。我用于展示 Parley 的其他功能，可以问：“我可以试些什么？”',
    },
  },
];

/**
 * The hand-written answer to a common first question; undefined for any other question, such as one about the price or the
 * language of something else.
 */
export function answerCommonQuestion({ text, language }: Question): Finding | undefined {
  if (text.length > MAX_QUESTION_CHARS) return undefined;
  const found = COMMON_QUESTIONS.find(({ asks }) => {
    // With the end of the last word, such as `crashes`.
    const rest = text.replace(new RegExp(`(?:${asks.source})[a-z]{0,4}`, `${asks.flags}g`), ' ');
    return rest !== text && concernsOnlyUs(rest);
  });
  return found && { text: localize(found.answer, language), thought: localize(BUILT_IN_TEXTS.thoughtTalk, language) };
}

/** Maximum length of such a question. A longer text only mentions the words. */
const MAX_QUESTION_CHARS = 120;
