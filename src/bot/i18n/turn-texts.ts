import type { Catalogue } from '../../shared/text/texts.ts';

/** The bot's own messages in the chat. */
export const TURN_TEXTS = {
  newConversation: {
    en: 'This is a new conversation. I have forgotten the previous one.',
    zh: '已开始新的对话，之前的内容已清除。',
  },
  stopped: { en: 'Stopped.', zh: '已停止。' },
  nothingToStop: { en: 'There is nothing to stop.', zh: '当前没有正在生成的回答。' },
  notTheLast: {
    en: 'Only your latest question can be retried here. Please ask the other one again.',
    zh: '这里只能重试你最近的一个问题，其他问题请重新提问。',
  },
  nothingToRetry: { en: 'There is no question to retry yet.', zh: '还没有可以重试的问题。' },
  whoLinked: { en: 'You are signed in as {name} ({id}).', zh: '你已登录：{name}（{id}）。' },
  whoUnlinked: { en: 'You are not signed in. Send /signin to sign in.', zh: '你尚未登录，发送“登录”即可登录。' },
  whoPlatform: {
    en: 'No sign-in is needed here. Your chat id is {id}.',
    zh: '此处无需登录，你在这里的成员账号是 {id}。',
  },
  privateOnly: { en: 'Please send this to me in our private chat.', zh: '请在与我的私聊中发送。' },
  tooManyInvitations: {
    en: 'You have requested too many sign-in links. Please try again in {minutes} minutes.',
    zh: '获取登录链接的次数过多，请 {minutes} 分钟后再试。',
  },
  alreadyLinked: {
    en: 'You are already signed in as {name} ({id}). To use another account, send /unlink first.',
    zh: '你已登录：{name}（{id}）。如需更换账号，请先发送“解绑”。',
  },
  signInOff: { en: 'No sign-in is needed here; just ask.', zh: '此处无需登录，直接提问即可。' },
  notLinked: { en: 'You are not signed in, so there is nothing to unlink.', zh: '你尚未登录，无需解绑。' },
  suspended: {
    en: 'I can no longer confirm that your account is active, so I cannot answer. Please contact the help desk, or send /unlink and sign in again.',
    zh: '无法确认你的账号是否有效，暂时不能回答。请联系服务台，或发送“解绑”后重新登录。',
  },
  notHere: {
    en: 'I cannot answer here. Please message me privately.',
    zh: '这里不支持提问，请与我私聊。',
  },
  groupsOnly: {
    en: 'I can answer you only in certain groups, not in our private chat. Please mention me there.',
    zh: '我只能在指定的群里回答你，不支持私聊。请在群里 @ 我提问。',
  },
  mayNotUse: {
    en: 'Your account does not have access to this bot. If you need access, please contact the help desk.',
    zh: '你的账号没有使用权限。如有疑问，请联系服务台。',
  },
  mayNotUseHelp: {
    en: 'Your account does not have access to this bot. If you need access, please contact the help desk: {help}',
    zh: '你的账号没有使用权限。如有疑问，请联系服务台：{help}',
  },
  released: { en: 'You are signed in. Answering your question …', zh: '登录成功，正在回答你的问题……' },
  thinking: { en: 'Thinking, {seconds} s', zh: '思考中，{seconds} 秒' },
  unsupported: {
    en: 'I can read text, images and documents only; please send your question as text.',
    zh: '我只能阅读文字、图片和文档，请用文字提问。',
  },
  unknownWord: {
    en: '“{word}” is not one of my commands, so I read it as a question. Send /help for the list.',
    zh: '“{word}”不是指令，我把它当作提问。发送“帮助”查看指令。',
  },
  chatRefusedQuestion: {
    en: 'The chat service rejected this question. Please rephrase it, or send /retry or /new. Reference: {reference}',
    zh: '对话服务拒绝了这个问题。请换个说法，或发送“重试”或“新对话”。参考编号：{reference}',
  },
  chatDown: {
    en: 'I cannot reach the chat service right now. Your question is saved: send /retry in a minute. Reference: {reference}',
    zh: '暂时无法连接对话服务。你的问题已保留，请稍后发送“重试”。参考编号：{reference}',
  },
  chatBusy: {
    en: 'The chat service is busy. Your question is saved: send /retry in a minute. Reference: {reference}',
    zh: '对话服务繁忙。你的问题已保留，请稍后发送“重试”。参考编号：{reference}',
  },
  chatLoading: {
    en: 'The model is still loading. Your question is saved: send /retry in a few minutes. Reference: {reference}',
    zh: '模型正在加载。你的问题已保留，请几分钟后发送“重试”。参考编号：{reference}',
  },
  waitsForCapacity: {
    en: 'Many people are asking right now. I will start on your question soon.',
    zh: '当前提问较多，你的问题即将开始处理。',
  },
  waitsForService: {
    en: 'I cannot reach the chat service right now. Retrying …',
    zh: '暂时无法连接对话服务，正在重试……',
  },
  waitsForModel: {
    en: 'The model is loading. This can take a few minutes.',
    zh: '模型正在加载，可能需要几分钟。',
  },
  chatOff: {
    en: 'The chat service is not set up correctly and needs an administrator. Your question is saved: send /retry later. Reference: {reference}',
    zh: '对话服务暂不可用，需要管理员处理。你的问题已保留，请稍后发送“重试”。参考编号：{reference}',
  },
  questionBlocked: {
    en: 'By the rules of your institution I cannot take this question. Please ask it in other words.',
    zh: '按本机构的规定，我无法受理这个问题。请换一种说法再提问。',
  },
  answerBlocked: {
    en: 'By the rules of your institution this answer is not shown.',
    zh: '按本机构的规定，该回答不予显示。',
  },
  notChecked: {
    en: 'The text cannot be checked at the moment. Please ask again later. Reference: {reference}',
    zh: '目前无法审核内容，请稍后再问。参考编号：{reference}',
  },
  chatFiltered: {
    en: 'The content rules of the chat service do not allow this question. Please rephrase it.',
    zh: '这个问题未通过对话服务的内容审核，请换个说法。',
  },
  chatTooLong: {
    en: 'This is too long for the model. Send /new to start over, or send less text.',
    zh: '内容过长，模型无法处理。请发送“新对话”重新开始，或缩短内容。',
  },
  queueBusy: {
    en: 'Too many people are asking right now, so I could not get to this question. Your question is saved: send /retry in a few minutes.',
    zh: '当前提问人数过多，暂时无法回答。你的问题已保留，请几分钟后发送“重试”。',
  },
  fallbackAnswers: {
    en: 'The selected model is unavailable; {model} answers instead.',
    zh: '所选模型暂时不可用，由 {model} 回答。',
  },
  internal: {
    en: 'Something went wrong on our side. Your question is saved: send /retry. Reference: {reference}',
    zh: '系统出现问题。你的问题已保留，请发送“重试”。参考编号：{reference}',
  },
  interrupted: { en: '(interrupted; send /retry for the full answer)', zh: '（回答中断，发送“重试”可重新回答）' },
  lengthReached: { en: '(maximum answer length reached)', zh: '（已达到回答长度上限）' },
  emptyAnswer: {
    en: 'The model returned no answer. Please send /retry, or rephrase your question. Reference: {reference}',
    zh: '模型没有返回回答，请发送“重试”或换个说法。参考编号：{reference}',
  },
  expired: {
    en: 'Sorry, I could not answer in time. Send /retry if you still need it. Reference: {reference}',
    zh: '抱歉，未能及时回答。如仍需要，请发送“重试”。参考编号：{reference}',
  },
  deadLetter: {
    en: 'Sorry, I could not process this message. Please rephrase it. Reference: {reference}',
    zh: '抱歉，这条消息无法处理，请换个说法。参考编号：{reference}',
  },
  unreadable: {
    en: 'Sorry, this message was damaged before I could read it. Please send it again. Reference: {reference}',
    zh: '抱歉，这条消息在读取之前已损坏，请重新发送。参考编号：{reference}',
  },
  linkedNotice: {
    en: 'Signed in as {name} ({id}). Not you? Send /unlink.',
    zh: '已登录为{name}（{id}）。不是你本人？请发送“解绑”。',
  },
  otherPersonNotice: {
    en: 'Someone else used your sign-in link, so no account was connected. Please never share a sign-in link.',
    zh: '有其他人使用了你的登录链接，未绑定任何账号。请勿转发登录链接。',
  },
  signInAgainNotice: {
    en: 'Your institution ended your sign-in. Send /signin to sign in again.',
    zh: '你的登录已失效，请发送“登录”重新登录。',
  },
  signInLostNotice: {
    en: 'Your sign-in was lost because of a problem on our side. Send /signin to sign in again.',
    zh: '由于系统故障，你的登录未能保留，请发送“登录”重新登录。',
  },
  codeSeenNotice: {
    en: 'Your sign-in code was posted in a group, so it no longer works and no account was connected. Send /signin to get a new link.',
    zh: '你的登录验证码出现在群聊中，已失效，未绑定任何账号。请发送“登录”获取新的链接。',
  },
  codeWrong: {
    en: 'That code does not match the one on the sign-in page. Please check it; you have {count} {count:try|tries} left.',
    zh: '验证码与登录页面上的不一致，请核对后重新输入。还可尝试 {count} 次。',
  },
  codeWrongLast: {
    en: 'The code was wrong too many times, so this sign-in has ended and no account was connected. Send /signin to get a new link.',
    zh: '验证码错误次数过多，本次登录已终止，未绑定任何账号。请发送“登录”获取新的链接。',
  },
  codeExpired: {
    en: 'This code has expired. Send /signin to get a new link.',
    zh: '验证码已过期，请发送“登录”获取新的链接。',
  },
  codeNotAwaited: {
    en: 'I was not expecting a code, so no account was connected and I did not pass the code on. Please type only codes from your own sign-in. To sign in, send /signin.',
    zh: '当前没有等待输入的验证码，未绑定任何账号，这条消息也没有转给任何人。请只输入你本人登录时看到的验证码。如需登录，请发送“登录”。',
  },
  codeInGroup: {
    en: 'That looks like a sign-in code. Please type codes only in our private chat; if it was one, it no longer works. Send me /signin there.',
    zh: '这看起来是登录验证码。验证码只能在与我的私聊中输入；如果它是验证码，现已失效。请私聊我发送“登录”。',
  },
  codeFailed: {
    en: 'I could not check the code. Please send it again.',
    zh: '暂时无法核对验证码，请重新发送。',
  },
  chatLinkedElsewhere: {
    en: 'You are already signed in here with another account; nothing was changed. Send /unlink first, then /signin.',
    zh: '你在此聊天中已登录另一个账号，未做任何更改。请先发送“解绑”，再发送“登录”。',
  },
  accountLinkedElsewhere: {
    en: 'This account is already connected to another chat account; nothing was changed. Send me /unlink from that chat account first, then /signin here.',
    zh: '此账号已绑定另一个聊天账号，未做任何更改。请先用那个聊天账号给我发送“解绑”，再在这里发送“登录”。',
  },
  conversationEnded: {
    en: 'Our last conversation was a while ago, so this is a new one.',
    zh: '距离上次对话已久，这是一次新的对话。',
  },
  otherScene: {
    en: 'Your settings here have changed, so this is a new conversation.',
    zh: '此处的设置已变更，这是一次新的对话。',
  },
  startedAfresh: {
    en: 'Our conversation became too long for the model, so this is a new one.',
    zh: '之前的对话过长，模型无法处理，已开始新的对话。',
  },
  conflictNotice: {
    en: 'Someone tried to sign in with your account from another chat account. Nothing was changed.',
    zh: '有人尝试用另一个聊天账号登录你的账号，未做任何更改。',
  },
} as const satisfies Catalogue<string>;
