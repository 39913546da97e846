import { say, type Catalogue, type Language } from '../../../shared/text/texts.ts';

const CATALOGUE = {
  // The ribbon
  localMode: { en: 'Local mode', zh: '本地模式' },
  builtInAnswers: {
    en: 'Everything runs on this computer, for you alone. A small built-in model answers.',
    zh: '一切都在这台电脑上运行，只供你自己试用。回答来自一个很小的内置模型。',
  },
  ownAnswers: { en: '{model} at {host} answers.', zh: '由 {host} 的 {model} 回答。' },
  connectModel: { en: 'Connect your own model', zh: '接入自己的模型' },
  changeModel: { en: 'Change the model', zh: '更换模型' },
  tour: { en: 'Tour', zh: '导览' },
  tourDone: { en: '{done} of {all}', zh: '{done}/{all}' },
  // The dialog
  modelTitle: { en: 'Your own model', zh: '自己的模型' },
  modelHint: {
    en: 'Any service that speaks the OpenAI chat interface, here or elsewhere. It is tried at once, and answers from then on. The key is kept on this computer, in a file that only you can read.',
    zh: '任何兼容 OpenAI 对话接口的服务都可以，在本机或别处均可。会立即试用，成功后即由它回答。密钥只保存在这台电脑上，文件仅你可读。',
  },
  address: { en: 'Address', zh: '地址' },
  key: { en: 'Key (if it asks for one)', zh: '密钥（如需要）' },
  modelName: { en: 'Model (the first that answers, unless you name one)', zh: '模型（不填则用第一个能回答的）' },
  tryModel: { en: 'Try it and use it', zh: '试用并启用' },
  trying: { en: 'Trying…', zh: '正在试用…' },
  leave: { en: 'Cancel', zh: '取消' },
  done: { en: 'Done', zh: '完成' },
  backToBuiltIn: { en: 'Back to the built-in model', zh: '改回内置模型' },
  modelWorks: { en: '{model} works and answers from now on.', zh: '{model} 可用，此后由它回答。' },
  builtInWorks: { en: 'The built-in model answers again.', zh: '已改回内置模型。' },
  fault_address: {
    en: 'This is no address: it begins with https:// (or http:// on this computer) and holds no password.',
    zh: '这不是可用的地址：应以 https:// 开头（本机可用 http://），且不含密码。',
  },
  fault_insecure: {
    en: 'Elsewhere than on this computer the address must begin with https://, or the key would travel readable.',
    zh: '除本机外，地址必须以 https:// 开头，否则密钥会被明文传输。',
  },
  fault_key_form: { en: 'The key holds characters that no key has.', zh: '密钥中有密钥不会包含的字符。' },
  fault_unreachable: { en: 'Nothing answers at this address ({detail}).', zh: '该地址没有回应（{detail}）。' },
  fault_key: { en: 'The service refuses the key ({detail}).', zh: '该服务不接受此密钥（{detail}）。' },
  fault_not_found: {
    en: 'There is no chat interface at this address, or no such model.',
    zh: '该地址没有对话接口，或没有这个模型。',
  },
  fault_name_model: {
    en: 'The service does not list its models: name one.',
    zh: '该服务没有列出模型，请填写模型名称。',
  },
  fault_busy: {
    en: 'The service takes no more questions just now ({detail}).',
    zh: '该服务暂时不接受更多提问（{detail}）。',
  },
  fault_refused: { en: 'The service refuses the question ({detail}).', zh: '该服务拒绝了提问（{detail}）。' },
  fault_no_answer: { en: 'The service answers, but not as a chat does.', zh: '该服务有回应，但不是对话接口的回答。' },
  fault_not_started: {
    en: 'The model works, but the bot could not be started with it; the log says why. The one before goes on.',
    zh: '模型可用，但机器人未能用它启动，原因见日志。仍由之前的模型回答。',
  },
  fault_away: { en: 'Parley could not be reached.', zh: '无法连接 Parley。' },
  // The first screen
  whoTitle: { en: 'Who do you want to be?', zh: '你想扮演谁？' },
  whoBeside: {
    en: 'Open somebody else in a second tab, and you have two people:',
    zh: '在第二个标签页里打开另一个人，就有了两个人：',
  },
  // The tour
  tourTitle: { en: 'Eight things to see', zh: '八件值得一试的事' },
  tourOver: { en: 'You have seen all of it.', zh: '你已全部试过。' },
  tourNext: {
    en: 'What next? Connect your own model at the top of the page, or ask how {bot} comes into your real messaging app:',
    zh: '接下来：可以在页面顶部接入自己的模型，或者问它怎样把 {bot} 接入真正的应用：',
  },
  hideTour: { en: 'Hide the tour', zh: '收起导览' },
  isDone: { en: 'done', zh: '已完成' },
  ask: { en: 'Ask a question', zh: '提一个问题' },
  askHint: { en: 'Write privately to {bot}.', zh: '给 {bot} 发一条私聊消息。' },
  askAction: { en: 'Ask “What can I try?”', zh: '问“可以试什么？”' },
  askText: { en: 'What can I try?', zh: '可以试什么？' },
  signIn: { en: 'Sign in', zh: '登录' },
  signInHint: {
    en: 'Follow the link in its message. What you asked is answered then, without asking again.',
    zh: '点击消息里的链接登录。登录后会直接回答你刚才的问题，无需再问一次。',
  },
  mention: { en: 'Mention it in a group', zh: '在群里 @ 它' },
  mentionHint: {
    en: 'Type @ and pick {bot}. Without that it is silent.',
    zh: '输入 @ 并选择 {bot}。不 @ 它，它就不会回答。',
  },
  mentionAction: { en: 'Open a group', zh: '打开一个群' },
  image: { en: 'Show it a picture', zh: '给它看一张图片' },
  imageHint: { en: 'Paste, drop or choose one.', zh: '粘贴、拖入或选择一张图片。' },
  imageAction: { en: 'Use a sample picture', zh: '用一张示例图片' },
  imageText: { en: 'What is in this picture?', zh: '这张图片里有什么？' },
  stop: { en: 'End a long answer early', zh: '中途停止一个长回答' },
  stopHint: {
    en: 'Ask for something long, then press Stop below the answer.',
    zh: '要一个很长的回答，再点击回答下方的“停止”。',
  },
  longAction: { en: 'Ask for a long answer', zh: '要一个长回答' },
  longText: { en: 'count to 400', zh: '从1数到400' },
  tryAgain: { en: 'Have it try again', zh: '让它重新回答' },
  tryAgainHint: { en: 'Write /retry.', zh: '发送“重试”。' },
  tryAgainAction: { en: 'Write /retry', zh: '发送“重试”' },
  retryText: { en: '/retry', zh: '重试' },
  second: { en: 'Be two people', zh: '同时扮演两个人' },
  secondHint: { en: 'A second tab can be somebody else.', zh: '第二个标签页可以是另一个人。' },
  secondAction: { en: 'Open {name} in a new tab', zh: '在新标签页打开 {name}' },
  kill: { en: 'Kill the bot', zh: '杀死机器人' },
  killHint: {
    en: 'While an answer grows, end the process that writes it by kill -9. Nothing is lost, and nothing is said twice.',
    zh: '在回答生成过程中，用 kill -9 结束正在写它的进程。不会丢失内容，也不会重复。',
  },
  killAction: { en: 'Kill the bot now', zh: '立即杀死机器人' },
  killTooSoon: { en: 'Wait a few seconds, then kill it again.', zh: '请稍等几秒再试。' },
  killFailed: { en: 'It could not be killed.', zh: '未能结束进程。' },
  killed: {
    en: 'The worker (process {process}) was ended with kill -9 at {time}.',
    zh: '{time}，工作进程（进程号 {process}）被 kill -9 结束。',
  },
  succeeded: {
    en: 'Another one (process {process}) was there after {seconds} s and took the answer over.',
    zh: '{seconds} 秒后，另一个进程（进程号 {process}）已就位并接手了这个回答。',
  },
  nothingTaken: {
    en: 'Another one (process {process}) was there after {seconds} s. No answer was under way.',
    zh: '{seconds} 秒后，另一个进程（进程号 {process}）已就位。当时没有正在生成的回答。',
  },
  awaitingNext: { en: 'Another one is being started…', zh: '正在启动另一个进程…' },
  awaitingGrowth: { en: 'The answer is about to go on…', zh: '回答即将继续…' },
  wentOn: {
    en: 'The answer went on after {seconds} s, in the same message.',
    zh: '{seconds} 秒后，回答在同一条消息里继续。',
  },
  wholeOnce: {
    en: 'The answer went on after {seconds} s in the same message and is whole: nothing was lost or said twice.',
    zh: '{seconds} 秒后，回答在同一条消息里继续，现已完整：没有丢失，也没有重复。',
  },
  stoppedOnce: {
    en: 'The answer went on after {seconds} s in the same message, until you stopped it: nothing was lost or said twice.',
    zh: '{seconds} 秒后，回答在同一条消息里继续，随后由你停止：没有丢失，也没有重复。',
  },
  askedAgain: {
    en: 'The model was asked again after {seconds} s; your question has one answer, in the same message.',
    zh: '{seconds} 秒后重新询问了模型；你的问题只有一个回答，仍在同一条消息里。',
  },
} satisfies Catalogue<string>;

export type TourText = keyof typeof CATALOGUE;

/** Says a text of the tour in the reader's language. */
export type SayTour = (key: TourText, values?: Readonly<Record<string, string | number>>) => string;

export function tourIn(language: Language): SayTour {
  return (key, values) => say(CATALOGUE[key], language, values);
}
