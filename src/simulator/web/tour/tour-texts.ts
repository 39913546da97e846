import { localize, type Catalogue, type Language } from '../../../shared/text/texts.ts';

const CATALOGUE = {
  // The ribbon
  localMode: { en: 'Local mode', zh: '本地模式' },
  builtInAnswers: {
    en: 'Everything runs on this computer, for you only. A small built-in model answers.',
    zh: '所有服务都在这台电脑上运行，仅供你试用。回答来自内置的小模型。',
  },
  ownAnswers: { en: '{model} at {host} answers.', zh: '由 {host} 的 {model} 回答。' },
  connectModel: { en: 'Connect your own model', zh: '接入自己的模型' },
  changeModel: { en: 'Change the model', zh: '更换模型' },
  tour: { en: 'Tour', zh: '导览' },
  tourDone: { en: '{done} of {all}', zh: '{done}/{all}' },
  // The dialog
  modelTitle: { en: 'Your own model', zh: '自己的模型' },
  modelHint: {
    en: 'Any service with an OpenAI-compatible chat API, local or remote. Parley tests it and then uses it. The key is stored on this computer in a file that only you can read.',
    zh: '支持任何兼容 OpenAI 对话接口的服务，本机或远程均可。测试通过后即启用。密钥保存在这台电脑上，仅你可读。',
  },
  engines: { en: 'On this computer', zh: '本机的模型服务' },
  searching: { en: 'Looking for engines on this computer…', zh: '正在查找本机的模型服务…' },
  enginesFound: {
    en: 'Engines found: {count}. Use connects an engine with its models.',
    zh: '找到 {count} 个模型服务，点击“启用”即可接入其全部模型。',
  },
  noEngines: {
    en: 'No engine that works without a key was found.',
    zh: '未找到无需密钥的模型服务。',
  },
  searchedPorts: { en: 'Ports searched: {ports}.', zh: '已查找的端口：{ports}。' },
  enginePort: { en: '{port} ({engine})', zh: '{port}（{engine}）' },
  betweenSentences: { en: ' ', zh: '' },
  betweenPorts: { en: ', ', zh: '、' },
  ownPort: {
    en: 'Port {ports} is used by Parley itself: if your engine uses it too, start the engine on another port and enter its address below.',
    zh: 'Parley 自己占用了端口 {ports}。如果模型服务也使用该端口，请换一个端口启动，并在下方填写地址。',
  },
  searchAgain: { en: 'Search again', zh: '重新查找' },
  unknownEngine: { en: 'Chat engine', zh: '模型服务' },
  moreModels: { en: '{models} and {count} more', zh: '{models}，另有 {count} 个' },
  noModels: {
    en: 'no model yet: add one to the engine, then search again',
    zh: '还没有模型，请先添加模型，再重新查找',
  },
  useEngine: { en: 'Use', zh: '启用' },
  useNamed: { en: 'Use {engine} at {host}', zh: '启用 {host} 的 {engine}' },
  engineGone: {
    en: '{engine} at {host} no longer responds. Start it, then search again.',
    zh: '{host} 的 {engine} 已没有回应。请启动后重新查找。',
  },
  otherService: { en: 'Another service', zh: '其他服务' },
  address: { en: 'Address', zh: '地址' },
  key: { en: 'Key (if required)', zh: '密钥（如需要）' },
  modelName: { en: 'Model (defaults to the first that answers)', zh: '模型（默认使用第一个可用的模型）' },
  tryModel: { en: 'Test and use', zh: '测试并启用' },
  trying: { en: 'Trying…', zh: '正在测试…' },
  leave: { en: 'Cancel', zh: '取消' },
  done: { en: 'Done', zh: '完成' },
  backToBuiltIn: { en: 'Back to the built-in model', zh: '改回内置模型' },
  modelWorks: { en: '{model} works and is now in use.', zh: '{model} 可用，已启用。' },
  builtInWorks: { en: 'The built-in model is in use again.', zh: '已改回内置模型。' },
  fault_address: {
    en: 'Enter an address that starts with https:// (or http:// for this computer) and contains no password.',
    zh: '请输入以 https:// 开头（本机可用 http://）且不含密码的地址。',
  },
  fault_insecure: {
    en: 'The address must start with https:// unless it is on this computer; otherwise the key would be sent unencrypted.',
    zh: '除本机外，地址必须以 https:// 开头，否则密钥会被明文传输。',
  },
  fault_key_form: { en: 'The key contains invalid characters.', zh: '密钥包含无效字符。' },
  fault_unreachable: { en: 'This address does not respond ({detail}).', zh: '该地址没有回应（{detail}）。' },
  fault_key: { en: 'The service refuses the key ({detail}).', zh: '该服务不接受此密钥（{detail}）。' },
  fault_not_found: {
    en: 'This address has no chat API, or the model does not exist.',
    zh: '该地址没有对话接口，或模型不存在。',
  },
  fault_name_model: {
    en: 'The service does not list its models. Enter a model name.',
    zh: '该服务未提供模型列表，请填写模型名称。',
  },
  fault_busy: {
    en: 'The service accepts no more questions at the moment ({detail}).',
    zh: '该服务暂时不接受更多提问（{detail}）。',
  },
  fault_refused: { en: 'The service refuses the question ({detail}).', zh: '该服务拒绝了提问（{detail}）。' },
  fault_no_answer: {
    en: 'The service responds, but not with a chat answer.',
    zh: '该服务有响应，但不是有效的对话回答。',
  },
  fault_not_started: {
    en: 'The model works, but the bot could not be started with it; see the log. The previous model stays in use.',
    zh: '模型可用，但机器人启动失败，原因见日志。仍使用之前的模型。',
  },
  fault_away: { en: 'Parley could not be reached.', zh: '无法连接 Parley。' },
  // The first screen
  whoTitle: { en: 'Choose a user', zh: '选择身份' },
  whoBeside: {
    en: 'To be two people at once, open another user in a second tab:',
    zh: '如需同时扮演两个人，请在新标签页中打开另一个人：',
  },
  // The tour
  tourTitle: { en: 'Eight things to try', zh: '八项体验' },
  tourOver: { en: 'You have completed the tour.', zh: '你已完成全部体验。' },
  tourNext: {
    en: 'Next, connect your own model at the top of the page, or ask how to connect {bot} to your messaging app:',
    zh: '接下来，可以在页面顶部接入自己的模型，或询问如何将 {bot} 接入你的办公应用：',
  },
  hideTour: { en: 'Hide the tour', zh: '收起导览' },
  isDone: { en: 'done', zh: '已完成' },
  ask: { en: 'Ask a question', zh: '提一个问题' },
  askHint: { en: 'Send {bot} a private message.', zh: '给 {bot} 发一条私聊消息。' },
  askAction: { en: 'Ask “What can I try?”', zh: '问“可以试什么？”' },
  askText: { en: 'What can I try?', zh: '可以试什么？' },
  signIn: { en: 'Sign in', zh: '登录' },
  signInHint: {
    en: 'Open the link in its message. After you sign in, your question is answered without asking again.',
    zh: '点击消息里的链接登录。登录后会直接回答你刚才的问题，无需重新提问。',
  },
  mention: { en: 'Mention it in a group', zh: '在群里 @ 它' },
  mentionHint: {
    en: 'Type @ and choose {bot}. It answers only if it is mentioned.',
    zh: '输入 @ 并选择 {bot}。只有 @ 它时才会回答。',
  },
  mentionAction: { en: 'Open a group', zh: '打开一个群' },
  image: { en: 'Send it an image', zh: '给它看一张图片' },
  imageHint: { en: 'Paste, drop or choose an image.', zh: '粘贴、拖入或选择一张图片。' },
  imageAction: { en: 'Use a sample image', zh: '用一张示例图片' },
  imageText: { en: 'What is in this image?', zh: '这张图片里有什么？' },
  stop: { en: 'Stop a long answer', zh: '停止一个长回答' },
  stopHint: {
    en: 'Ask for a long answer, then press Stop below it.',
    zh: '请求一个很长的回答，再点击回答下方的“停止”。',
  },
  longAction: { en: 'Ask for a long answer', zh: '请求一个长回答' },
  longText: { en: 'count to 400', zh: '从1数到400' },
  tryAgain: { en: 'Retry an answer', zh: '重新回答' },
  tryAgainHint: { en: 'Write /retry.', zh: '发送“重试”。' },
  tryAgainAction: { en: 'Write /retry', zh: '发送“重试”' },
  retryText: { en: '/retry', zh: '重试' },
  second: { en: 'Be two people', zh: '同时扮演两个人' },
  secondHint: { en: 'Open another user in a second tab.', zh: '在新标签页中打开另一个人。' },
  secondAction: { en: 'Open {name} in a new tab', zh: '在新标签页打开 {name}' },
  kill: { en: 'Kill the bot', zh: '强制结束机器人' },
  killHint: {
    en: 'While an answer is being written, end its process with kill -9. Nothing is lost or repeated.',
    zh: '在回答生成过程中，用 kill -9 结束对应的进程。内容不会丢失，也不会重复。',
  },
  killAction: { en: 'Kill the bot now', zh: '立即强制结束机器人' },
  killTooSoon: { en: 'Wait a few seconds, then kill it again.', zh: '请稍等几秒再试。' },
  killFailed: { en: 'It could not be killed.', zh: '未能结束进程。' },
  killed: {
    en: 'The worker (process {process}) was ended with kill -9 at {time}.',
    zh: '{time}，工作进程（进程号 {process}）被 kill -9 结束。',
  },
  succeeded: {
    en: 'Another worker (process {process}) was ready after {seconds} s and continued the answer.',
    zh: '{seconds} 秒后，另一个进程（进程号 {process}）已就位并接手了这个回答。',
  },
  nothingTaken: {
    en: 'Another worker (process {process}) was ready after {seconds} s. No answer was in progress.',
    zh: '{seconds} 秒后，另一个进程（进程号 {process}）已就位。当时没有正在生成的回答。',
  },
  awaitingNext: { en: 'Starting another worker…', zh: '正在启动新的进程…' },
  awaitingGrowth: { en: 'The answer is about to continue…', zh: '回答即将继续…' },
  wentOn: {
    en: 'The answer continued after {seconds} s in the same message.',
    zh: '{seconds} 秒后，回答在同一条消息里继续。',
  },
  wholeOnce: {
    en: 'The answer continued after {seconds} s in the same message and is complete: nothing was lost or repeated.',
    zh: '{seconds} 秒后，回答在同一条消息里继续，现已完成：没有丢失，也没有重复。',
  },
  stoppedOnce: {
    en: 'The answer continued after {seconds} s in the same message until you stopped it: nothing was lost or repeated.',
    zh: '{seconds} 秒后，回答在同一条消息里继续，随后由你停止：没有丢失，也没有重复。',
  },
  askedAgain: {
    en: 'The model was asked again after {seconds} s; your question has one answer, in the same message.',
    zh: '{seconds} 秒后重新请求了模型；你的问题仍只有一个回答，在同一条消息里。',
  },
} satisfies Catalogue<string>;

export type TourText = keyof typeof CATALOGUE;

/** Returns a text of the tour in the reader's language. */
export type SayTour = (key: TourText, values?: Readonly<Record<string, string | number>>) => string;

export function tourIn(language: Language): SayTour {
  return (key, values) => localize(CATALOGUE[key], language, values);
}
