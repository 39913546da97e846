import { GLOSSARY } from './glossary.ts';
import { OUR_NAMES, OUR_WORDS } from './judge-match.ts';
import { ASKING_WORDS, settingNamesIn } from './question-terms.ts';
import { contentWordsOf, standingAlone } from './words.ts';

/** Names of this program and its parts, as separate words: "slacks" and "robots" do not count. */
const NAMES = new RegExp([...OUR_NAMES, 'redis', 'prometheus', 'bot'].map(standingAlone).join('|'), 'iu');
/** A robotics lab and publishers in WeChat have documents of their own, so general words for them do not count. */
const CHINESE_NAMES = /企业微信|企微|飞书|钉钉|(?:这个|你这|聊天|问答|智能)机器人/;
/** A command such as `/retry`, not a path or fraction. */
const SLASH_WORD = /(?<![\p{L}\p{N}/:.])\/(?:[a-z]{3,}|\p{Script=Han}{2,})(?![\p{L}\p{N}/.])/u;

/** Common bot topics. They only count if the question mentions nothing else. */
const TRADE =
  /\b(?:chats?|conversations?|messages?|answers?|workers?|receivers?|models?|engines?|tokens?|settings?|deploy\w*|callbacks?|commands?|(?:sign|log)(?:ed|ged|ing|ging)?[ -]?(?:in|out|off)|login|logout)\b/i;
const CHINESE_TRADE =
  /机器人|登录|登陆|对话|会话|聊天|部署|指令|命令|模型|引擎|密钥|回调|日志|监控|升级|备份|思考|重试|解绑|群聊|私聊/;
/** Neutral words that may occur with them. Compared as stems. */
const NEUTRAL = new Set(
  'start stop begin end out off new old again long kept keep change switch see open first last time upstream connect link run read history'.split(
    ' ',
  ),
);
const CHINESE_NEUTRAL = new Set(
  '新的 旧的 之前 之后 以前 以后 一次 一下 重新 现在 以及 还是 进行 功能 方法'.split(' '),
);
const HAN = /\p{Script=Han}/u;

/**
 * Whether a question is clearly about this program, so that our pages take precedence over the institution's documents: it
 * names Parley, or mentions only common bot topics. "How do I sign in to the campus network?" mentions something else too.
 * Such a question is looked up in the documents first, and in our pages only if no document fits.
 */
export function isAboutUs(text: string): boolean {
  return namesUs(text) || speaksOfNothingElse(text);
}

function namesUs(text: string): boolean {
  return NAMES.test(text) || CHINESE_NAMES.test(text) || SLASH_WORD.test(text) || settingNamesIn(text).length > 0;
}

function speaksOfNothingElse(text: string): boolean {
  if (!TRADE.test(text) && !CHINESE_TRADE.test(text)) return false;
  const latin = contentWordsOf(text.replace(/\p{Script=Han}+/gu, ' '));
  return latin.every((word) => OUR_WORDS.has(word) || NEUTRAL.has(word)) && otherChineseWords(text).length === 0;
}

/** Chinese words that are neither bot topics nor question words. Single characters are too ambiguous. */
function otherChineseWords(text: string): string[] {
  const rest = [...GLOSSARY.map(([asked]) => asked), CHINESE_TRADE].reduce(
    (left, asked) => left.replace(new RegExp(asked.source, `${asked.flags.replace('g', '')}g`), ' '),
    text,
  );
  return [...new Intl.Segmenter('zh', { granularity: 'word' }).segment(rest)]
    .map(({ segment }) => segment)
    .filter((segment) => HAN.test(segment) && segment.length > 1)
    .filter((segment) => !ASKING_WORDS.has(segment) && !CHINESE_NEUTRAL.has(segment));
}
