import type { Bilingual, Catalogue } from '../../shared/text/texts.ts';
import type { PageErrorCode } from '../oauth/sign-in-errors.ts';

/** Texts of the service's pages. */
export const PAGE_TEXTS = {
  product: { en: 'Sign-in service', zh: '统一身份认证' },
  signIn: { en: 'Sign in', zh: '登录' },
  signInLead: { en: 'Use your institution account.', zh: '请使用单位账号登录。' },
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
  and: { en: 'and', zh: '和' },
  application: { en: 'Application', zh: '应用' },
  consentShares: { en: '{client} will see', zh: '{client} 将看到' },
  sharesName: { en: 'Your name', zh: '姓名' },
  sharesNumber: { en: 'Your staff or student number', zh: '学工号' },
  sharesDepartment: { en: 'Your department', zh: '所在部门' },
  sharesKind: { en: 'Your identity type', zh: '身份类型' },
  kindStaff: { en: 'Staff', zh: '教职工' },
  kindStudent: { en: 'Student', zh: '学生' },
  kindOther: { en: 'Other', zh: '其他' },
  consentNever: { en: 'Your password is never shared.', zh: '你的密码不会被共享。' },
  remember: { en: 'Do not ask again for this application', zh: '以后不再询问此应用' },
  allow: { en: 'Allow', zh: '允许' },
  deny: { en: 'Deny', zh: '拒绝' },
  switchPerson: { en: 'Not you? Sign in as someone else', zh: '不是你本人？换个账号登录' },
  consentNext: { en: 'You will return to {host} in either case.', zh: '选择后将返回 {host}。' },
  signedOut: { en: 'You are signed out', zh: '你已退出登录' },
  signedOutLead: {
    en: 'You are signed out on this device. Applications keep the access you granted until you remove it.',
    zh: '你已在此设备上退出登录。应用仍保留你授予的权限，可随时移除。',
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
    en: 'This address is used by programs for chat requests and sign-in. To chat, use your messaging app.',
    zh: '此地址供程序调用，提供对话接口和登录服务。如需对话，请使用你的办公应用。',
  },
  homeEngineBuiltIn: { en: 'Answers come from the small built-in model.', zh: '当前由内置的小模型回答。' },
  homeEngineUpstream: { en: 'Answers come from a connected engine.', zh: '当前由已接入的模型引擎回答。' },
  homeChat: { en: 'Chat', zh: '对话' },
  homeModels: { en: 'Models', zh: '模型' },
  homeSignIn: { en: 'Sign-in', zh: '登录' },
  homeAccount: { en: 'Manage your applications', zh: '管理你的应用' },
  home: { en: 'Home', zh: '首页' },
  tryAgain: { en: 'Try again', zh: '重试' },
  reference: { en: 'Reference {reference}', zh: '参考编号 {reference}' },
} satisfies Catalogue<string>;

/** What happened and what to do, for each error page. */
export const ERROR_TEXTS: Readonly<Record<PageErrorCode, { title: Bilingual; advice: Bilingual }>> = {
  bad_request: {
    title: { en: 'This address is incomplete', zh: '此地址不完整' },
    advice: { en: 'Go back to the application and start the sign-in there again.', zh: '请回到应用，重新开始登录。' },
  },
  unknown_client: {
    title: { en: 'This application is not registered here', zh: '此应用未登记' },
    advice: {
      en: 'You were not signed in. Tell the operator of the application that its client_id is not registered.',
      zh: '未进行登录。请告知应用管理员：该应用的 client_id 未登记。',
    },
  },
  unknown_redirect: {
    title: {
      en: 'The return address of this application is not registered',
      zh: '此应用的返回地址未登记',
    },
    advice: {
      en: 'You were not signed in. Tell the operator of the application to register its exact redirect_uri.',
      zh: '未进行登录。请告知应用管理员：redirect_uri 必须与登记的地址完全一致。',
    },
  },
  form_expired: {
    title: { en: 'This page has expired', zh: '页面已过期' },
    advice: {
      en: 'Start the sign-in again in the application. If this happens again, allow cookies for this site.',
      zh: '请在应用中重新登录。如果再次出现，请允许本站使用 Cookie。',
    },
  },
  foreign_form: {
    title: { en: 'This form came from another site', zh: '此表单来自其他网站' },
    advice: {
      en: 'The form was ignored. Start the sign-in again in the application.',
      zh: '未执行任何操作。请在应用中重新登录。',
    },
  },
  sign_in_lost: {
    title: { en: 'The sign-in could not be completed here', zh: '登录未能在此完成' },
    advice: {
      en: 'Start again in the application, and stay in the same browser or app until you are signed in.',
      zh: '请在应用中重新登录，并在同一个浏览器或应用内完成。',
    },
  },
  sign_in_failed: {
    title: { en: 'Your identity could not be confirmed', zh: '暂时无法确认你的身份' },
    advice: {
      en: 'Your institution’s sign-in did not respond correctly. You were not signed in; please try again in a moment.',
      zh: '单位的登录系统未正常响应，登录未完成，请稍后重试。',
    },
  },
  sign_in_declined: {
    title: { en: 'You did not sign in', zh: '登录未完成' },
    advice: {
      en: 'The sign-in was cancelled or is not allowed for your account.',
      zh: '登录已取消，或你的账号没有权限。',
    },
  },
  unknown_person: {
    title: { en: 'Your account is not in the directory', zh: '你的账号不在人员名录中' },
    advice: {
      en: 'Ask the help desk to add your account to the directory.',
      zh: '请联系服务台，将你的账号加入人员名录。',
    },
  },
  profile_unusable: {
    title: { en: 'Your account lacks required information', zh: '你的账号缺少必要的信息' },
    advice: {
      en: 'You are not signed in. Give the help desk the reference below, or use another account.',
      zh: '你尚未登录。请将下方的参考编号提供给服务台，或换个账号登录。',
    },
  },
  inactive_person: {
    title: { en: 'Your account is not active', zh: '你的账号未启用' },
    advice: {
      en: 'You are not signed in. Contact the help desk, or use another account.',
      zh: '你尚未登录。请联系服务台，或换个账号登录。',
    },
  },
  not_found: {
    title: { en: 'This page does not exist', zh: '页面不存在' },
    advice: { en: 'The home page describes this service.', zh: '请前往首页了解本服务。' },
  },
  busy: {
    title: { en: 'Too many people are signing in right now', zh: '当前登录人数过多' },
    advice: {
      en: 'Your password was not checked. Go back and try again in 30 seconds.',
      zh: '你的密码尚未验证。请返回，30 秒后重试。',
    },
  },
  store_away: {
    title: { en: 'The sign-in service is unavailable', zh: '登录服务暂时不可用' },
    advice: {
      en: 'Its database cannot be reached. Please try again in a minute.',
      zh: '暂时无法访问数据库，请一分钟后重试。',
    },
  },
  internal: {
    title: { en: 'Something went wrong on our side', zh: '系统出现问题' },
    advice: {
      en: 'Please try again. If this happens again, give the help desk the reference below.',
      zh: '请重试。如果再次出现，请将下方的参考编号提供给服务台。',
    },
  },
};
