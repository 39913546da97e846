import type { Bilingual, Catalogue } from '../../shared/text/texts.ts';
import type { PageErrorCode } from '../oauth/sign-in-errors.ts';

/** What the service's pages say. */
export const PAGE_TEXTS = {
  product: { en: 'Sign-in service', zh: '统一身份认证' },
  signIn: { en: 'Sign in', zh: '登录' },
  signInLead: { en: 'Use the account of your institution.', zh: '请使用单位账号登录。' },
  signInFor: { en: 'Sign in to continue to {client}.', zh: '登录后继续前往 {client}。' },
  username: { en: 'Username', zh: '用户名' },
  password: { en: 'Password', zh: '密码' },
  signInButton: { en: 'Sign in', zh: '登录' },
  signInWith: { en: 'Sign in with {name}', zh: '使用{name}登录' },
  institutionSignIn: { en: 'your institution', zh: '统一身份认证' },
  signInByPassword: { en: 'Or with a password of this service', zh: '或使用本服务的密码登录' },
  continueSignIn: { en: 'Continue', zh: '继续' },
  wrongLogin: { en: 'Username and password do not match. Please try again.', zh: '用户名与密码不匹配，请重试。' },
  slowLogin: {
    en: 'Too many wrong passwords. Please wait ten minutes, or ask the help desk.',
    zh: '密码错误次数过多，请十分钟后再试，或联系服务台。',
  },
  signInNext: {
    en: 'Next you choose whether {client} may see who you are.',
    zh: '下一步由你决定是否允许 {client} 查看你的身份信息。',
  },
  consentTitle: { en: 'Let {client} know who you are?', zh: '允许 {client} 查看你的身份信息吗？' },
  application: { en: 'Application', zh: '应用' },
  consentShares: { en: '{client} will see', zh: '{client} 将看到' },
  sharesName: { en: 'Your name', zh: '姓名' },
  sharesNumber: { en: 'Your staff or student number', zh: '学工号' },
  sharesDepartment: { en: 'Your department', zh: '所在部门' },
  sharesKind: { en: 'Your kind of identity', zh: '身份类型' },
  kindStaff: { en: 'Staff', zh: '教职工' },
  kindStudent: { en: 'Student', zh: '学生' },
  kindOther: { en: 'Other', zh: '其他' },
  consentNever: { en: 'Your password is never shared.', zh: '你的密码不会被共享。' },
  remember: { en: 'Do not ask again for this application', zh: '以后不再询问此应用' },
  allow: { en: 'Allow', zh: '允许' },
  deny: { en: 'Deny', zh: '拒绝' },
  switchPerson: { en: 'Not you? Sign in as someone else', zh: '不是你本人？换个账号登录' },
  consentNext: { en: 'Either way you go back to {host}.', zh: '无论选择哪一项，都会返回 {host}。' },
  signedOut: { en: 'You are signed out', zh: '你已退出登录' },
  signedOutLead: {
    en: 'On this device nobody is signed in any more. Applications keep the access you gave them until you remove it.',
    zh: '本设备上已没有登录的账号。应用仍保有你授予的权限，直到你将其移除。',
  },
  signInAgain: { en: 'Sign in again', zh: '重新登录' },
  accountTitle: { en: 'Your applications', zh: '你的应用' },
  accountLead: { en: 'These applications may see who you are.', zh: '以下应用可以查看你的身份信息。' },
  accountNone: { en: 'No application has access to your profile.', zh: '没有应用可以访问你的资料。' },
  accountGiven: { en: 'Allowed on {date}', zh: '于 {date} 允许' },
  accountRemembered: { en: 'not asked again', zh: '不再询问' },
  withdraw: { en: 'Remove access', zh: '移除权限' },
  withdrawFrom: { en: 'Remove access of {client}', zh: '移除权限：{client}' },
  signOut: { en: 'Sign out', zh: '退出登录' },
  homeTitle: { en: 'The chat and sign-in service', zh: '对话与登录服务' },
  homeLead: {
    en: 'This address is for programs: it answers chat requests and lets people sign in. The conversation itself takes place in your messaging app.',
    zh: '这个地址供程序使用：回答对话请求，并让人们登录。真正的对话在你的办公应用里进行。',
  },
  homeEngineBuiltIn: { en: 'Answers come from the small built-in model.', zh: '目前由内置的小模型回答。' },
  homeEngineUpstream: { en: 'Answers come from a connected engine.', zh: '目前由接入的模型引擎回答。' },
  homeChat: { en: 'Chat', zh: '对话' },
  homeModels: { en: 'Models', zh: '模型' },
  homeSignIn: { en: 'Sign-in', zh: '登录' },
  homeAccount: { en: 'See which applications know you', zh: '可以查看你身份信息的应用' },
  home: { en: 'Home', zh: '首页' },
  tryAgain: { en: 'Try again', zh: '重试' },
  reference: { en: 'Reference {reference}', zh: '参考编号 {reference}' },
} satisfies Catalogue<string>;

/** What happened, and what to do, for each error page. */
export const ERROR_TEXTS: Readonly<Record<PageErrorCode, { title: Bilingual; advice: Bilingual }>> = {
  bad_request: {
    title: { en: 'This address is not complete', zh: '这个地址不完整' },
    advice: { en: 'Go back to the application and start the sign-in there again.', zh: '请回到应用，重新开始登录。' },
  },
  unknown_client: {
    title: { en: 'This application is not registered here', zh: '这个应用没有在此登记' },
    advice: {
      en: 'Nobody was signed in. Tell the people who run the application that its client_id is not known.',
      zh: '没有进行任何登录。请告知应用的管理者：它的 client_id 未登记。',
    },
  },
  unknown_redirect: {
    title: {
      en: 'This application asks to return to an address that is not registered',
      zh: '这个应用要求返回一个未登记的地址',
    },
    advice: {
      en: 'Nobody was signed in. Tell the people who run the application that its redirect_uri must be registered letter by letter.',
      zh: '没有进行任何登录。请告知应用的管理者：redirect_uri 必须与登记的地址完全一致。',
    },
  },
  form_expired: {
    title: { en: 'This page was open for too long', zh: '页面打开的时间过长' },
    advice: {
      en: 'Start the sign-in again in the application. If it repeats, allow cookies for this site.',
      zh: '请在应用里重新开始登录。如果反复出现，请允许本站使用 Cookie。',
    },
  },
  foreign_form: {
    title: { en: 'This form came from another site', zh: '这个表单来自其他网站' },
    advice: {
      en: 'Nothing was done. Start the sign-in again in the application.',
      zh: '没有执行任何操作。请在应用里重新开始登录。',
    },
  },
  sign_in_lost: {
    title: { en: 'The sign-in was not finished here', zh: '登录没有在此完成' },
    advice: {
      en: 'Start again in the application, and stay in the same browser or app until the end.',
      zh: '请在应用里重新开始，并在同一个浏览器或应用里完成。',
    },
  },
  sign_in_failed: {
    title: { en: 'Who you are could not be confirmed', zh: '暂时无法确认你的身份' },
    advice: {
      en: 'The place where you sign in did not answer as it should. Nothing was done; please try again in a moment.',
      zh: '登录所在的系统没有正常应答。没有执行任何操作，请稍后重试。',
    },
  },
  sign_in_declined: {
    title: { en: 'You did not sign in', zh: '你没有完成登录' },
    advice: {
      en: 'The sign-in was cancelled, or not allowed for your account. Nothing was done.',
      zh: '登录已取消，或你的账号未获允许。没有执行任何操作。',
    },
  },
  unknown_person: {
    title: { en: 'Your account does not belong to anybody here', zh: '你的账号没有对应的人员' },
    advice: {
      en: 'Ask the help desk to add the account that you signed in with to the directory.',
      zh: '请联系服务台，把你登录所用的账号加入人员名录。',
    },
  },
  profile_unusable: {
    title: { en: 'Your account lacks something that is needed', zh: '你的账号缺少必要的信息' },
    advice: {
      en: 'You are not signed in. Give the help desk the reference below, or sign in as someone else.',
      zh: '你尚未登录。请把下面的参考编号告诉服务台，或换个账号登录。',
    },
  },
  inactive_person: {
    title: { en: 'Your account is not active', zh: '你的账号未启用' },
    advice: {
      en: 'You are not signed in. Ask the help desk, or sign in as someone else.',
      zh: '你尚未登录。请联系服务台，或换个账号登录。',
    },
  },
  not_found: {
    title: { en: 'There is nothing at this address', zh: '这个地址没有内容' },
    advice: { en: 'The home page tells what this service offers.', zh: '首页介绍了本服务的内容。' },
  },
  busy: {
    title: { en: 'Very many people are signing in right now', zh: '当前登录人数过多' },
    advice: {
      en: 'Your password was not looked at. Go back and try again in half a minute.',
      zh: '尚未验证你的密码。请返回，半分钟后再试。',
    },
  },
  store_away: {
    title: { en: 'The sign-in service is resting', zh: '登录服务暂时不可用' },
    advice: {
      en: 'Its store cannot be reached. Please try again in a minute.',
      zh: '存储暂时无法访问，请一分钟后重试。',
    },
  },
  internal: {
    title: { en: 'Something went wrong on our side', zh: '我们这边出了问题' },
    advice: {
      en: 'Please try again. If it repeats, give the help desk the reference below.',
      zh: '请重试。如果反复出现，请把下面的参考编号告诉服务台。',
    },
  },
};
