import { localize, type Catalogue, type Language } from '../../shared/text/texts.ts';

const CATALOGUE = {
  signedInAs: { en: 'Signed in as', zh: '当前身份' },
  conversations: { en: 'Conversations', zh: '会话列表' },
  messages: { en: 'Messages', zh: '消息记录' },
  message: { en: 'Message', zh: '消息' },
  send: { en: 'Send', zh: '发送' },
  inAppBrowser: { en: 'In-app browser', zh: '应用内浏览器' },
  inactive: { en: 'deactivated', zh: '账号已停用' },
  inactiveNote: {
    en: 'This account is deactivated in the directory, so signing in is refused, as for people who have left.',
    zh: '此账号在通讯录中已停用，无法登录，用于体验离职人员的情形。',
  },
  appTitle: { en: 'Messenger', zh: '消息' },
  loading: { en: 'Loading…', zh: '正在加载…' },
  startFailed: { en: 'The messenger could not be loaded.', zh: '消息页面加载失败。' },
  tryAgain: { en: 'Try again', zh: '重试' },
  noPeople: { en: 'The directory is empty.', zh: '通讯录为空。' },
  back: { en: 'Back to conversations', zh: '返回会话列表' },
  unread: { en: '{count} unread', zh: '{count} 条未读' },
  draft: { en: 'Draft: ', zh: '草稿：' },
  noMessagesYet: { en: 'No messages yet', zh: '暂无消息' },
  privateHint: { en: 'Private chat', zh: '私聊' },
  you: { en: 'you', zh: '我' },
  bot: { en: 'bot', zh: '机器人' },
  members: { en: '{count} members: {names}', zh: '{count} 位成员：{names}' },
  namesGap: { en: ', ', zh: '、' },
  today: { en: 'Today', zh: '今天' },
  yesterday: { en: 'Yesterday', zh: '昨天' },
  newMessages: { en: 'New messages ({count})', zh: '{count} 条新消息' },
  unreadBelow: { en: 'New', zh: '以下为新消息' },
  earlierMessages: { en: 'Earlier messages', zh: '更早的消息' },
  toLatest: { en: 'Jump to latest message', zh: '回到最新消息' },
  stop: { en: 'Stop', zh: '停止' },
  copyCode: { en: 'Copy code', zh: '复制代码' },
  copyMessage: { en: 'Copy message', zh: '复制消息' },
  copied: { en: 'Copied', zh: '已复制' },
  copyFailed: { en: 'Copying is not allowed here.', zh: '此处无法复制。' },
  quoteMessage: { en: 'Quote', zh: '引用' },
  replyInThread: { en: 'Reply in thread', zh: '在消息列中回复' },
  inThread: { en: 'Thread', zh: '消息列' },
  inThreadOf: { en: 'Thread · {name}: {text}', zh: '消息列 · {name}：{text}' },
  leaveThread: { en: 'Cancel reply in thread', zh: '取消在消息列中回复' },
  removeQuote: { en: 'Remove quote', zh: '取消引用' },
  good: { en: 'Good answer', zh: '有帮助' },
  bad: { en: 'Bad answer', zh: '没帮助' },
  botButtons: { en: 'Buttons of the bot', zh: '机器人的按钮' },
  pressFailed: { en: 'That did not work. Press the button again.', zh: '操作失败，请重试。' },
  onlyYou: { en: 'Only you can see this', zh: '仅你可见' },
  prompts: { en: 'Suggested questions', zh: '推荐问题' },
  edited: { en: '(edited)', zh: '（已编辑）' },
  deleted: { en: 'This message was deleted.', zh: '此消息已删除。' },
  editMessage: { en: 'Edit message', zh: '编辑消息' },
  deleteMessage: { en: 'Delete message', zh: '删除消息' },
  deleteQuestion: { en: 'Delete this message for everyone?', zh: '为所有人删除这条消息？' },
  save: { en: 'Save', zh: '保存' },
  cancel: { en: 'Cancel', zh: '取消' },
  notSaved: { en: 'The message could not be changed.', zh: '消息修改失败。' },
  whyBad: { en: 'What was wrong with the answer?', zh: '回答有什么问题？' },
  reasonIrrelevant: { en: 'It does not answer the question', zh: '与问题无关' },
  reasonIncomplete: { en: 'It is incomplete', zh: '内容不完整' },
  reasonWrong: { en: 'It is wrong', zh: '内容有误' },
  reasonAnalysis: { en: 'It misinterprets the data', zh: '数据分析错误' },
  reasonWords: { en: 'Anything else? (optional)', zh: '补充说明（选填）' },
  noReasons: { en: 'Skip', zh: '跳过' },
  sendReasons: { en: 'Send feedback', zh: '提交反馈' },
  thinking: { en: 'Thinking', zh: '正在思考' },
  thinkingFor: { en: 'Thinking · {seconds} s', zh: '正在思考 · {seconds} 秒' },
  thought: { en: 'Thought', zh: '思考过程' },
  thoughtFor: { en: 'Thought for {seconds} s', zh: '思考了 {seconds} 秒' },
  sending: { en: 'Sending', zh: '正在发送' },
  sent: { en: 'Sent', zh: '已发送' },
  sendAgain: { en: 'Try again', zh: '重新发送' },
  notSent: { en: 'Not sent.', zh: '未发送。' },
  rateLimited: {
    en: 'Too many messages in a short time. Wait a moment, then resend it.',
    zh: '发送过于频繁，请稍后重新发送。',
  },
  tooLarge: { en: 'This message is too large to send.', zh: '消息过大，无法发送。' },
  messengerAway: { en: 'The messenger could not be reached.', zh: '无法连接到消息服务。' },
  reconnecting: {
    en: 'Connection to the messenger lost. Reconnecting…',
    zh: '与消息服务的连接已断开，正在重新连接…',
  },
  stopEnding: {
    en: 'Parley is shutting down. Running answers are finished first.',
    zh: 'Parley 正在停止，将先完成正在生成的回答。',
  },
  stopOver: {
    en: 'Parley was stopped. Run “npm start”; this page then reconnects automatically.',
    zh: 'Parley 已停止。运行“npm start”后，页面会自动恢复。',
  },
  botAway: {
    en: '{bot} cannot be reached right now. Retrying automatically…',
    zh: '暂时无法连接 {bot}，正在自动重试…',
  },
  loadFailed: { en: 'The messages could not be loaded.', zh: '消息加载失败。' },
  writeTo: { en: 'Message {name}', zh: '发消息给 {name}' },
  writeToGroup: { en: 'Message {name} (@ to mention)', zh: '发消息到 {name}（可以 @ 成员）' },
  addImage: { en: 'Add images', zh: '添加图片' },
  addFile: { en: 'Add files', zh: '添加文件' },
  fileTooLarge: { en: 'Files can be at most 25 MB.', zh: '文件不能超过 25 MB。' },
  fileCount: { en: 'A message can contain at most 9 files.', zh: '一条消息最多 9 个文件。' },
  fileInGroup: {
    en: 'In a group the bot receives a file only if a message to the bot quotes it. Send the file, then quote it.',
    zh: '在群里，只有 @ 机器人的消息引用了文件，它才会收到。请先发送文件，再引用它。',
  },
  removeImage: { en: 'Remove image {name}', zh: '移除图片 {name}' },
  removeFile: { en: 'Remove file {name}', zh: '移除文件 {name}' },
  uploading: { en: 'Uploading', zh: '正在上传' },
  uploadFailed: { en: '{name} could not be added.', zh: '{name} 添加失败。' },
  imageTooLarge: { en: 'Images can be at most {size} MB.', zh: '图片不能超过 {size} MB。' },
  imageKind: { en: 'Only PNG, JPEG, GIF and WebP images can be sent.', zh: '只能发送 PNG、JPEG、GIF 或 WebP 图片。' },
  imageCount: { en: 'A message can contain at most {count} images.', zh: '一条消息最多 {count} 张图片。' },
  dropHere: { en: 'Drop images or files to add them', zh: '松开鼠标即可添加图片或文件' },
  image: { en: 'Image', zh: '图片' },
  imageOf: { en: 'Image {number} of {count}', zh: '第 {number} 张图片，共 {count} 张' },
  openImage: { en: 'Open image: {name}', zh: '查看图片：{name}' },
  close: { en: 'Close', zh: '关闭' },
  mentionList: { en: 'People to mention', zh: '可以 @ 的成员' },
  commandList: { en: 'Commands', zh: '指令' },
  unknownWord: {
    en: 'There is no command “{word}”. It will be sent as an ordinary message.',
    zh: '没有“{word}”这个指令，将作为普通消息发送。',
  },
  keysHint: { en: 'Enter to send · Shift+Enter for a new line', zh: 'Enter 发送 · Shift+Enter 换行' },
  linkRefused: { en: 'This link cannot be opened in the app.', zh: '无法在应用内打开此链接。' },
  closesByItself: { en: 'Done. This window closes automatically.', zh: '已完成，即将自动关闭。' },
  pageLoading: { en: 'Opening {host}…', zh: '正在打开 {host}…' },
  firstTitle: { en: 'Ask {bot}', zh: '向 {bot} 提问' },
  firstBody: {
    en: 'This is a private chat with {bot}, as a colleague sees it in the messaging app. Write a question, or start with one of these.',
    zh: '这是与 {bot} 的私聊，与同事在办公应用中看到的一致。可以直接提问，或从以下问题开始。',
  },
  loginHint: {
    en: 'It will ask you to sign in. Your user name is {username}, your password is {password}.',
    zh: '提问后需要登录：用户名 {username}，密码 {password}。',
  },
  loginName: { en: 'User name', zh: '用户名' },
  loginPassword: { en: 'Password', zh: '密码' },
  loginTitle: { en: 'Your login at this service', zh: '你在此服务的登录信息' },
  firstGroupTitle: { en: 'Ask {bot} in the group', zh: '在群里向 {bot} 提问' },
  firstGroupBody: {
    en: 'Everyone here sees the answer. {bot} answers only if it is mentioned with @.',
    zh: '回答对所有群成员可见。只有 @ {bot} 时，它才会回答。',
  },
  questionOne: { en: 'What can you help me with?', zh: '你能帮我做什么？' },
  questionTwo: { en: 'How do I connect you to {platform}?', zh: '如何把你接入{platform}？' },
  wecom: { en: 'WeCom', zh: '企业微信' },
  slack: { en: 'Slack', zh: ' Slack' },
  questionThree: { en: 'Who do you think I am?', zh: '你知道我是谁吗？' },
} satisfies Catalogue<string>;

/** The keys of the page's own texts. */
export type PageText = keyof typeof CATALOGUE;

/** Returns a text of the page in the reader's language, with its `{name}` placeholders filled. */
export type Say = (key: PageText, values?: Readonly<Record<string, string | number>>) => string;

/**
 * The accessible name of a landmark that keeps its English name in every language, so that tests and scripts find it. For
 * readers of another language the translated name is added.
 */
export function fixedName(
  key: 'signedInAs' | 'conversations' | 'messages' | 'message' | 'send',
  language: Language,
): { 'aria-label': string; 'aria-description'?: string } {
  const { en, [language]: own } = CATALOGUE[key];
  return { 'aria-label': en, 'aria-description': own === en ? undefined : own };
}

/** Binds the catalog to one language. */
export function sayIn(language: Language): Say {
  return (key, values) => localize(CATALOGUE[key], language, values);
}
