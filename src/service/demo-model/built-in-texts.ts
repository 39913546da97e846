import type { Catalogue } from '../../shared/text/texts.ts';

/** Texts of the built-in model. They never overstate what it is. */
export const BUILT_IN_TEXTS = {
  hello: {
    en: "Hello! I'm Parley's small built-in model. I know Parley's documentation and a few tricks. For example, ask me “what can I try?”.",
    zh: '你好！我是 Parley 内置的小模型，只了解 Parley 的文档和几个小技巧。例如可以问我：“我可以试些什么？”',
  },
  who: {
    en: "I'm Parley's small built-in model: a set of rules and a search of Parley's own documentation, not a large language model. I answer until you connect a real engine (`SERVICE_UPSTREAM_URL`) or your own chat service (`CHAT_BASE_URL`).",
    zh: '我是 Parley 内置的小模型：由一些规则和对 Parley 文档的搜索组成，不是大语言模型。接入真正的模型引擎（`SERVICE_UPSTREAM_URL`）或自己的对话服务（`CHAT_BASE_URL`）后，将由它们回答。',
  },
  abilities: {
    en: "I'm Parley's small built-in model. I can:\n\n- answer common questions, and questions about Parley from its documentation (“How do I connect WeCom?”, “What does `GROUP_SCOPE` mean?”)\n{withTools}- count slowly until you stop me, show a table or some code, calculate, write a given number of words\n- report an image's type and size\n- show my reasoning after `/think high`\n\nFor real answers, connect your own model: ask me how.",
    zh: '我是 Parley 内置的小模型。我能：\n\n- 回答常见问题，并根据 Parley 的文档回答（“怎样接入企业微信？”“`GROUP_SCOPE` 是什么意思？”）\n{withTools}- 慢慢数数直到你叫停、展示表格或代码、做算术、写出指定数量的字\n- 报告图片的格式和尺寸\n- 显示思考过程（发送 `思考 高` 之后）\n\n如需真正的回答，请接入自己的模型，可以问我：“怎么接入自己的模型？”',
  },
  abilityTools: {
    en: '- call the available tools ({examples})\n',
    zh: '- 使用可用的工具（{examples}）\n',
  },
  exampleTime: { en: 'What time is it?', zh: '现在几点？' },
  exampleWho: { en: 'Do you know who I am?', zh: '你知道我是谁吗？' },
  exampleSearch: { en: 'Search for otters', zh: '搜索水獭' },
  examplePage: { en: 'What does https://example.org say?', zh: '看看 https://example.org 讲了什么' },
  words: {
    en: 'You can also send these commands, in English or Chinese:\n\n- `/help` (帮助) — shows what Parley can do\n- `/new` (新对话) — starts a new conversation\n- `/stop` (停止) — stops the answer\n- `/retry` (重试) — answers the last question again\n- `/model` (模型) — lists the models and selects one\n- `/think` (思考) — sets the reasoning effort\n- `/lang` (语言) — sets the language\n- `/usage` (用量) — shows your usage\n- `/sources` (来源) — shows the sources of the last answer\n- `/ref` (编号) — shows the reference of the last question\n- `/export` (导出) — exports the saved conversation\n- `/forget` (清除) — deletes your data in this chat\n- `/whoami` (我是谁) — shows who you are signed in as\n- `/signin` (登录) — sends a new sign-in link\n- `/unlink` (解绑) — signs you out',
    zh: '除了直接提问，还可以发送这些指令，中英文都可以：\n\n- `帮助`（`/help`）：查看 Parley 能做什么\n- `新对话`（`/new`）：开始新的对话\n- `停止`（`/stop`）：停止正在生成的回答\n- `重试`（`/retry`）：重新回答上一个问题\n- `模型`（`/model`）：查看或选择模型\n- `思考`（`/think`）：设置思考强度\n- `语言`（`/lang`）：设置语言\n- `用量`（`/usage`）：查看你的用量\n- `来源`（`/sources`）：查看上一条回答的来源\n- `编号`（`/ref`）：查看上一个问题的参考编号\n- `导出`（`/export`）：导出已保存的对话\n- `清除`（`/forget`）：删除你在此聊天中的数据\n- `我是谁`（`/whoami`）：查看当前登录的身份\n- `登录`（`/signin`）：获取新的登录链接\n- `解绑`（`/unlink`）：退出登录',
  },
  whoAmI: {
    en: "I don't know: Parley's small built-in model sees only the text of messages, not their sender. Send `/whoami` to see who is signed in.",
    zh: '我不知道：Parley 内置的小模型只能看到消息内容，看不到发送者。发送“我是谁”可以查看当前登录的身份。',
  },
  thanks: { en: 'You are welcome!', zh: '不客气！' },
  bye: { en: 'Goodbye!', zh: '再见！' },
  previous: { en: 'Before this, you asked: “{question}”', zh: '在这之前，你问的是：“{question}”' },
  noPrevious: {
    en: 'This is your first question in this conversation.',
    zh: '这是你在此对话中的第一个问题。',
  },
  toolResult: { en: '`{name}` answered:\n\n{result}', zh: '`{name}` 的结果：\n\n{result}' },
  toolResultEnd: {
    en: "I'm Parley's small built-in model: I pass this on unchanged.",
    zh: '我是 Parley 内置的小模型，只是原样转述。',
  },
  noSearchTool: {
    en: 'I cannot search the web here: I was given no tool for it. To enable web search, set `WEB_SEARCH_URL` or `WEB_SEARCH_BRAVE_KEY`, allow it in `config/tools.json` (a copy of `defaults/tools.json`, or the file that `TOOLS_FILE` names), and restart Parley.',
    zh: '我在这里无法上网搜索：没有可用的工具。如需启用，请设置 `WEB_SEARCH_URL` 或 `WEB_SEARCH_BRAVE_KEY`，在 `config/tools.json`（`defaults/tools.json` 的副本，或 `TOOLS_FILE` 指定的文件）中设置可用范围，再重新启动 Parley。',
  },
  noPageTool: {
    en: 'I cannot open web pages here: I was given no tool for it. The tool `read_page` is off by default: write `"read_page": { "on": true }` in `config/tools.json` (a copy of `defaults/tools.json`, or the file that `TOOLS_FILE` names), and restart Parley.',
    zh: '我在这里无法打开网页：没有可用的工具。工具 `read_page` 默认关闭，如需启用，请在 `config/tools.json`（`defaults/tools.json` 的副本，或 `TOOLS_FILE` 指定的文件）中写入 `"read_page": { "on": true }`，再重新启动 Parley。',
  },
  noTimeTool: {
    en: 'I cannot tell the time here: I was given no tool for it. To enable the tool `current_time`, write `"current_time": { "on": true }` in `config/tools.json` (a copy of `defaults/tools.json`, or the file that `TOOLS_FILE` names), and restart Parley.',
    zh: '我在这里不知道时间：没有可用的工具。如需启用工具 `current_time`，请在 `config/tools.json`（`defaults/tools.json` 的副本，或 `TOOLS_FILE` 指定的文件）中写入 `"current_time": { "on": true }`，再重新启动 Parley。',
  },
  image: {
    en: 'a {type} image of {width} × {height} pixels ({size})',
    zh: '一张 {type} 图片，{width} × {height} 像素（{size}）',
  },
  imageUnreadable: { en: 'an image that I cannot read', zh: '一张我无法读取的图片' },
  imageElsewhere: { en: 'an image at a web address that I do not open', zh: '一张网址上的图片，我不会打开' },
  fileSays: { en: '“{name}” says{place}:\n\n{text}', zh: '“{name}”{place}中写道：\n\n{text}' },
  fileBegins: {
    en: 'I am a small built-in model and can only quote. “{name}” begins as follows{place}:\n\n{text}',
    zh: '我是内置的小模型，只会引用原文。“{name}”{place}的开头是：\n\n{text}',
  },
  thoughtFile: {
    en: 'searching {count} {count:file|files} for words of the question',
    zh: '在 {count} 个文件中查找问题里的词',
  },
  oneImage: {
    en: "You sent {what}. I'm Parley's small built-in model: I can report an image's size, but I cannot see what it shows.",
    zh: '你发来的是{what}。我是 Parley 内置的小模型：可以报告图片的尺寸，但看不到图片的内容。',
  },
  manyImages: {
    en: "You sent {count} images:\n\n{list}\n\nI'm Parley's small built-in model: I can report the size of images, but I cannot see what they show.",
    zh: '你发来了 {count} 张图片：\n\n{list}\n\n我是 Parley 内置的小模型：可以报告图片的尺寸，但看不到图片的内容。',
  },
  goesOnThere: {
    en: 'This is the beginning; the rest is in the same place.',
    zh: '以上是开头，其余内容在同一处。',
  },
  fromDocs: {
    en: '{excerpt}\n\nFrom {page}, “{title}”.',
    zh: '{excerpt}\n\n出处：{page}，“{title}”。',
  },
  fromKnowledge: { en: '{excerpt} [{number}]', zh: '{excerpt} [{number}]' },
  fromEnglishDocs: {
    en: '{excerpt}\n\nFrom {page}, “{title}”.',
    zh: '仅英文文档中有相关内容，原文如下：\n\n{excerpt}\n\n出处：{page}，“{title}”。',
  },
  notInDocuments: {
    en: "I'm only a small demo model and found no answer in the documents that you may read here; to get real answers, connect a real model (in the messenger: “Connect your own model”).",
    zh: '我只是一个小型演示模型，在你有权查阅的文档中没有找到答案；如需真正的回答，请接入真正的模型（在聊天页面点击“接入自己的模型”）。',
  },
  notInGroupDocuments: {
    en: "I'm only a small demo model and found no answer in the documents that everyone in this group may read; ask me in our private chat, where you may be able to read more, or connect a real model (in the messenger: “Connect your own model”).",
    zh: '我只是一个小型演示模型，在群成员都有权查阅的文档中没有找到答案；可以私聊问我，那里可能有更多你可以查阅的文档，也可以接入真正的模型（在聊天页面点击“接入自己的模型”）。',
  },
  unknown: {
    en: "I'm only a small demo model and cannot answer this; to get real answers, connect a real model (in the messenger: “Connect your own model”).",
    zh: '我只是一个小型演示模型，无法回答这个问题；如需真正的回答，请接入真正的模型（在聊天页面点击“接入自己的模型”）。',
  },
  slowCount: { en: '{numbers} … that is enough.', zh: '{numbers} ……就数到这里吧。' },
  sumEndless: { en: 'That has no finite result.', zh: '这个算式没有有限的结果。' },
  thought: {
    en: 'I am a small set of rules, so my reasoning is short. {thought}',
    zh: '我只有一些规则，所以思考很简短。{thought}',
  },
  thoughtToolResult: {
    en: 'There {count:is|are} {count} tool {count:result|results}; I pass {count:it|them} on.',
    zh: '有 {count} 个工具调用的结果，我转述它们。',
  },
  thoughtNoTool: {
    en: 'The question clearly asks for a tool that I was not given, so I say so.',
    zh: '问题明确需要一个没有给我的工具，所以我如实说明。',
  },
  thoughtTool: {
    en: 'The question clearly asks for the tool “{name}”, so I call it.',
    zh: '问题明确需要工具“{name}”，所以调用它。',
  },
  thoughtImage: {
    en: 'There {count:is|are} {count} {count:image|images}; I read type and size from the {count:header|headers}.',
    zh: '有 {count} 张图片，我从文件头读出格式和尺寸。',
  },
  thoughtCount: {
    en: 'I am asked for {count} words and produce exactly that many.',
    zh: '要求 {count} 个字词，我就给出正好这么多。',
  },
  thoughtSum: { en: 'This is a calculation, so I do it.', zh: '这是一道算术题，我来计算。' },
  thoughtPiece: { en: 'I am asked for an example, and have one ready.', zh: '需要一个示例，我已备好。' },
  thoughtTalk: { en: 'This is small talk, which needs no search.', zh: '这是闲聊，不需要搜索。' },
  thoughtDocs: {
    en: "I search Parley's documentation for: {terms}. The best match is “{title}” in {page}.",
    zh: '我在 Parley 的文档里搜索：{terms}。最相关的是 {page} 里的“{title}”。',
  },
  thoughtKnowledge: {
    en: 'The search found {count} {count:passage|passages}; I quote the one that shares most words with the question.',
    zh: '搜索找到 {count} 段内容，我引用与问题最接近的一段。',
  },
  thoughtNoPassage: {
    en: 'The search of the documents found no passage that answers this, so I say so.',
    zh: '在文档中没有搜到能回答问题的内容，所以我如实说明。',
  },
  thoughtNothing: {
    en: "I searched Parley's documentation and found no match.",
    zh: '我搜索了 Parley 的文档，没有合适的内容。',
  },
} satisfies Catalogue<string>;
