import { GLOSSARY } from './glossary.ts';
import { OUR_NAMES, OUR_WORDS } from './judge-match.ts';
import { ASKING_WORDS, settingNamesIn } from './question-terms.ts';
import { contentWordsOf, standingAlone, wordStem } from './words.ts';

/** Names of this program and its parts, as separate words: "slacks" and "robots" do not count. */
const NAMES = new RegExp([...OUR_NAMES, 'redis', 'prometheus', 'bot'].map(standingAlone).join('|'), 'iu');
/** Places and people of an institution: a question with these and a name, such as "my course", is not about Parley. */
const ELSEWHERE =
  /\b(?:courses?|class(?:es)?|lectures?|seminars?|departments?|laborator(?:y|ies)|labs?|clusters?|professors?|teachers?|exams?|canteens?)\b|课程|上课|老师|教授|实验室|部门|学院|集群|考试|食堂|宿舍|图书馆|公众号/i;
/** A robotics lab has documents of its own, so that general words for a bot do not count. */
const CHINESE_NAMES = /(?:这个|你这|聊天|问答|智能)机器人/;
/** A command such as `/retry`, not a path or fraction. */
const SLASH_WORD = /(?<![\p{L}\p{N}/:.])\/(?:[a-z]{3,}|\p{Script=Han}{2,})(?![\p{L}\p{N}/.])/u;

/** Common bot topics in Chinese. They only count if the question mentions nothing else; the English ones are `TRADE`. */
const CHINESE_TRADE =
  /机器人|登录|登陆|对话|会话|聊天|部署|指令|命令|模型|引擎|密钥|回调|可信域名|防火墙|日志|监控|升级|备份|思考|重试|解绑|群聊|群里|私聊|语音|图片|工具|试用|企业微信|企微|飞书|钉钉|队列|谁可以使用|生成的?回答/;
/** Neutral words that may occur with them. Compared as stems. */
/** Further topics of its interfaces and logs. */
const TRADE = new Set(['signature', 'reasoning_effort', ...OUR_WORDS]);
const NEUTRAL = new Set(
  (
    'start stop begin end out off new old again long kept keep change switch see open first last time upstream connect link run read history ' +
    'real host allow mean service alone rotate order configure die dies away reasoning effort monitor differ appear enter credential app help anybody anyone ' +
    'everyone people question send sent being shown written architecture inside internal university company school it one laptop server its'
  )
    .split(' ')
    .map(wordStem),
);
const CHINESE_NEUTRAL = new Set(
  (
    '新的 旧的 之前 之后 以前 以后 一次 一下 重新 现在 以及 还是 进行 功能 方法 可信 别人 转发 服务 正在 生成 回答 放行 内部 问题 消息 ' +
    '数据 文档 内容 学校 单位 公司 使用 谁可 帮助 帮我 怎么把 管理 管理员 时候 我的 你的 发给'
  ).split(' '),
);
const HAN = /\p{Script=Han}/u;

/**
 * Whether a question is clearly about this program, so that our pages take precedence over the institution's documents: it
 * names Parley, or mentions only common bot topics. "How do I sign in to the campus network?" mentions something else too.
 * Such a question is looked up in the documents first, and in our pages only if no document fits.
 */
export function isAboutUs(text: string): boolean {
  return namesUs(text) || (namesTrade(text) && concernsOnlyUs(text));
}

function namesUs(text: string): boolean {
  if (SLASH_WORD.test(text) || settingNamesIn(text).length > 0) return true;
  return (NAMES.test(text) || CHINESE_NAMES.test(text)) && !ELSEWHERE.test(text);
}

function namesTrade(text: string): boolean {
  return CHINESE_TRADE.test(text) || latinWordsOf(text).some((word) => TRADE.has(word));
}

/** Whether a text, such as the rest of a question, contains only bot topics and neutral words, or names Parley. */
export function concernsOnlyUs(text: string): boolean {
  if (namesUs(text)) return true;
  const isOurs = (word: string) => TRADE.has(word) || OUR_NAMES.has(word) || NEUTRAL.has(word);
  return latinWordsOf(text).every(isOurs) && otherChineseWords(text).length === 0;
}

function latinWordsOf(text: string): string[] {
  return contentWordsOf(text.replace(/\p{Script=Han}+/gu, ' '));
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
