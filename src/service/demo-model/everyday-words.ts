import { ASKING_WORDS } from './question-terms.ts';
import { contentWordsOf, wordsOf } from './words.ts';

/** A thing that people and documents call by several names, in English and Chinese. */
interface Concept {
  /** Patterns, separated by `|`, the usual name first. English ones match whole words, with a plural `s`. */
  en: string;
  zh: string;
  /** An aspect of a subject, such as a price: it identifies no document by itself. */
  isAspect?: true;
}

/** Words of campus life. In order: the longer names of a thing take precedence over their parts. */
const CONCEPTS: readonly Concept[] = [
  { en: 'last|latest', zh: '末班车?|最后|最晚', isAspect: true },
  { en: 'first|earliest', zh: '首班车?|头班车?|第一班|最早', isAspect: true },
  { en: 'campus card|student card|staff card|meal card|id card|card', zh: '校园卡|一卡通|学生卡|饭卡|卡务|卡' },
  {
    en: 'vpn|from home|at home|off campus|outside the campus|remotely',
    zh: 'vpn|校外|在家里|在家|校内资源|校内网站|远程访问',
  },
  { en: 'wi-fi|wifi|wireless|wlan|internet|online', zh: '无线网络|无线网|校园网|上网|联网' },
  { en: 'library|libraries', zh: '图书馆|主馆' },
  { en: 'reading room|study room|seat', zh: '阅览室|自习室|座位|占座' },
  { en: 'borrow|borrowing|borrowed|borrows|lend|loan|take home|take out|check out', zh: '借阅|借书|可借|借' },
  { en: 'renew|renewal|extend', zh: '续借' },
  { en: 'book|textbook|novel', zh: '图书|(?<![证秘文说])书' },
  { en: 'dormitory|dormitories|dorm|hall of residence|halls of residence|residence hall', zh: '宿舍|寝室|学生公寓' },
  {
    en: 'repair|broken|fix|fixed|out of order|not working|leak|leaks|leaking',
    zh: '报修|维修|修理|坏了|漏水|修',
  },
  { en: 'guest|visitor', zh: '访客|客人|来访' },
  { en: 'shuttle bus|shuttle buses|shuttle|bus|buses', zh: '校车|班车' },
  { en: 'railway station|train station', zh: '火车站|高铁站' },
  { en: 'business trip|trip|travel|travelling|conference', zh: '出差|差旅|开会|外出' },
  { en: 'hotel|accommodation|lodging', zh: '住宿|酒店|宾馆' },
  { en: 'meal|food|lunch|dinner|eating', zh: '伙食|餐费|吃饭|用餐' },
  { en: 'expense|reimburse|reimbursed|reimbursement|receipt', zh: '报销|补助|能报|票据|发票' },
  { en: 'sick leave|sick|ill|illness', zh: '病假|生病|病了' },
  { en: 'annual leave|paid leave|paid vacation|days off', zh: '年假|年休假' },
  { en: 'certificate|note from the doctor|doctor.?s note|proof', zh: '证明|材料|病假条' },
  { en: 'winter break|winter vacation|winter holiday', zh: '寒假' },
  { en: 'examination|exam|final exam|finals', zh: '期末考试|考试|期末' },
  { en: 'term|semester', zh: '学期' },
  { en: 'scholarship|grant|bursary', zh: '奖学金' },
  { en: 'apply|application', zh: '申请' },
  { en: 'top up|topping up|recharge|add money|put money|load money', zh: '充值|存钱|充钱|充' },
  { en: 'reserve|reservation|book a|booked', zh: '预约|预订|预定' },
  {
    en: 'lost|lose|losing|loss|stolen|missing|mislaid|can.?t find|cannot find|disappeared',
    zh: '丢失|遗失|弄丢|丢了|丢|不见了|找不到|掉了|挂失',
  },
  { en: 'replacement|replace|new card|reissue', zh: '补办|新卡|赔偿|赔付|赔' },
  {
    en: 'open|opens|opening|hours|close|closes|closed|closing|shut|be back|curfew|lock|locked',
    zh: '开放|开门|关门|闭馆|开馆|门禁|锁门|关闭',
    isAspect: true,
  },
  {
    en: 'how much is|how much does|how much may|cost|price|fee|yuan|expensive',
    zh: '多少钱|费用|价格|多少(?![本个张次天台条份册])|几块钱|\\d 元|贵',
    isAspect: true,
  },
  { en: 'phone|telephone|ring|call|calling|hotline', zh: '电话|拨打|打给', isAspect: true },
  { en: 'weekend|saturday|sunday', zh: '周末|周六|周日|星期六|星期天|星期日', isAspect: true },
  {
    en: 'working day|weekday|monday|tuesday|wednesday|thursday|friday',
    zh: '工作日|周一|周二|周三|周四|周五|星期[一二三四五]',
    isAspect: true,
  },
  { en: 'begin|start', zh: '开始|开学|开课', isAspect: true },
];

const PATTERNS = CONCEPTS.map(({ en, zh }) => new RegExp(String.raw`\b(?:${en})s?\b|${zh}`, 'giu'));

/** Words that a question may contain without being about them. Compared as stems. */
const INCIDENTAL = new Set(
  (
    'university campus college school student staff employee teacher person people colleague thing way time hour day night morning evening ' +
    'today tomorrow now currently soon late number many much long often allow able possible still also just only really very good again ' +
    'more any anymore at once ring mine myself someone somebody something anything everything else go come take put bring leave tell say ' +
    'see look ask help like would could might per when up back there money maximum most old new it im ive id dont cant what whats wheres'
  ).split(' '),
);
const CHINESE_INCIDENTAL = new Set(
  (
    '学校 校园 学生 老师 教职工 员工 同学 大家 时间 时候 今天 明天 现在 访问 办理 进行 出去 里面 是否 最多 最少 一般 通常 具体 规定 要求 ' +
    '哪几 几天 哪天 几点 几次 几本 几册 多少钱 借的 还要 还是 可不可以 能不能 要不要 有没有 不能 不会 应该 必须 以及 或者 如果 之后 以后 ' +
    '怎么办 什么 需要 提交 一次 一个 给我 帮我'
  ).split(' '),
);
/** Particles and question words within a run of Chinese text. */
const CHINESE_PARTICLES =
  /请问|我们|你们|我|你|您|可以|能不能|能否|多少|什么时候|什么|怎么样|怎么办|怎么|怎样|如何|哪里|哪个|哪些|哪几天|几点|是不是/g;
const HAN = /\p{Script=Han}/u;

/** What a question is about. */
export interface Asked {
  /** The words of the question that were understood. */
  words: readonly string[];
  /** Indexes of concepts, and other words. */
  subjects: readonly (number | string)[];
  aspects: readonly number[];
}

/** The subjects and aspects of a question. */
export function whatIsAsked(question: string): Asked {
  let rest = question;
  const found: number[] = [];
  const words: string[] = [];
  for (const [index, pattern] of PATTERNS.entries()) {
    const matches = rest.match(pattern);
    if (!matches) continue;
    found.push(index);
    words.push(...matches);
    rest = rest.replace(pattern, ' ');
  }
  const unknown = contentWordsOf(rest.replace(/\p{Script=Han}+/gu, ' ').replace(/['’]/g, '')).filter(
    (word) => !INCIDENTAL.has(word) && !HAN.test(word),
  );
  const others = [...new Set([...unknown, ...chineseWordsOf(rest)])];
  return {
    words: [...words, ...others],
    subjects: [...found.filter((index) => CONCEPTS[index]?.isAspect !== true), ...others],
    aspects: found.filter((index) => CONCEPTS[index]?.isAspect === true),
  };
}

function chineseWordsOf(text: string): string[] {
  const runs = text.replace(CHINESE_PARTICLES, ' ');
  return [...new Intl.Segmenter('zh', { granularity: 'word' }).segment(runs)]
    .map(({ segment }) => segment)
    .filter((word) => HAN.test(word) && word.length > 1 && !CHINESE_INCIDENTAL.has(word) && !ASKING_WORDS.has(word));
}

/** A text whose concepts can be looked up. */
export class DescribedText {
  readonly #text: string;
  readonly #words: ReadonlySet<string>;

  constructor(text: string) {
    this.#text = text;
    this.#words = new Set(wordsOf(text));
  }

  has(wanted: number | string): boolean {
    if (typeof wanted === 'number') return this.#text.search(PATTERNS[wanted] as RegExp) >= 0;
    return HAN.test(wanted) ? this.#text.includes(wanted) : this.#words.has(wanted);
  }

  /** Subjects that the text names and the question does not. */
  otherSubjects({ subjects }: Asked): number[] {
    return CONCEPTS.flatMap(({ isAspect }, index) =>
      isAspect === true || subjects.includes(index) || !this.has(index) ? [] : [index],
    );
  }
}

const MAX_QUERY_CHARS = 400;

/**
 * Search queries for a question: its own words, and the usual names of what it is about. Two queries, because a search
 * ignores passages that contain only a few words of its query.
 */
export function queriesFor(question: string): string[] {
  const { words, subjects, aspects } = whatIsAsked(question);
  const isChinese = HAN.test(question);
  const names = [...subjects, ...aspects].map((one) => {
    const concept = typeof one === 'number' ? CONCEPTS[one] : undefined;
    return concept ? ((isChinese ? concept.zh : concept.en).split('|')[0] ?? '').replace('?', '') : one;
  });
  const queries = [words, names].map((query) => [...query.join(' ').toLowerCase()].slice(0, MAX_QUERY_CHARS).join(''));
  return [...new Set(queries)].filter((query) => query !== '');
}
