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
  { en: 'last|latest', zh: '末班车?|最后一班', isAspect: true },
  { en: 'first|earliest', zh: '首班车?|头班车?|第一班|最早', isAspect: true },
  { en: 'change|swap|exchange', zh: '换' },
  {
    en: 'replacement|replace|reissue|new(?= (?:campus |student |staff )?card)',
    zh: '补办|赔偿|赔付|赔|补(?=.{0,3}卡)|新(?=的?校?园?卡)',
  },
  {
    en: 'campus card|student card|staff card|meal card|id card|card',
    zh: '校园卡|一卡通|学生卡|饭卡|卡务|(?<![刷打])卡',
  },
  {
    en: 'borrow|borrowing|borrowed|borrows|lend|loan|take home|take out|check out|(?:keep|hold on to)(?= (?:a|the|my|library|these|this)?\\b.{0,12}\\bbooks?)',
    zh: '借阅|借书|可借|借|(?<=书.{0,8})要?还(?=[？。，]|$)',
  },
  {
    en: 'vpn|from home|at home|off campus|outside the campus|from outside|remotely|from abroad',
    zh: '校外.{0,6}(?:校园网|上网|内网)|vpn|校外|在家里|在家|家里|校内资源|校内网站|内网|远程访问|国外',
  },
  { en: 'wi-fi|wifi|wireless|wlan|internet|online|network', zh: '无线网络|无线网|校园网|上网|联网|网络|wi-?fi' },
  { en: 'library|libraries', zh: '图书馆|主馆' },
  {
    en: 'reserve|reservation|book (?=(?:a|an|the|one|my)? ?(?:seat|place|desk|study))|booked|reserved|reserving',
    zh: '预约|预订|预定|约(?=.{0,3}座)',
  },
  { en: 'reading room|study room|seat', zh: '阅览室|自习室|座位|占座' },
  { en: 'renew|renewal|extend|prolong', zh: '续借|延期' },
  { en: 'book|textbook|novel', zh: '图书|(?<![证秘文说])书|[几少][本册]' },
  {
    en: 'dormitory|dormitories|dorm|hall of residence|halls of residence|residence hall|student residence|halls|my hall|my room|heating|radiator|shower|toilet|tap|light bulb|lamp|window|sink|air conditioner',
    zh: '宿舍|寝室|学生公寓|水管|水龙头|马桶|暖气|空调|灯|窗户',
  },
  {
    en: 'repair|broken|fix|fixed|out of order|not working|does not work|do(?:es)?n.?t work|leak|leaks|leaking|drip|drips|dripping|blocked|clogged|defective|damage|damaged',
    zh: '报修|维修|修理|坏了|坏掉|漏水|堵了|不亮|故障|修',
  },
  { en: 'guest|visitor|friend|parent', zh: '访客|客人|来访|朋友|外来人员' },
  { en: 'shuttle bus|shuttle buses|shuttle|bus|buses', zh: '校车|(?<![首末头])班车|公交|车(?=.{0,6}(?:班|发车))' },
  { en: 'railway station|train station', zh: '火车站|高铁站' },
  { en: 'hospital', zh: '医院(?!证明)' },
  {
    en: 'business trip|trip|travel for work|travelling for work|travel|travelling|conference',
    zh: '出差|差旅|开会|外出|公差',
  },
  { en: 'hotel|accommodation|lodging', zh: '住宿|酒店|宾馆' },
  { en: 'meal|food|lunch|dinner|eating', zh: '伙食|餐费|餐补|吃饭|用餐' },
  { en: 'expense|reimburse|reimbursed|reimbursement|receipt', zh: '报销|补助|补贴|能报|票据|发票' },
  { en: 'sick leave|sick|ill|illness|unwell|flu', zh: '病假|生病|病了|感冒|发烧' },
  {
    en: 'annual leave|paid leave|(?:paid|request|my|take|days of|book) (?:vacation|holiday)|vacation days?|days? off|time off',
    zh: '年假|年休假|休.{0,4}假|几天假|多少天假',
  },
  { en: 'certificate|note from the doctor|doctor.?s note|proof', zh: '证明|材料|病假条' },
  {
    en: 'winter break|winter vacation|winter holiday|(?<!summer |public |bank )(?:holiday|vacation|break)',
    zh: '寒假|(?<!暑)放假|(?<!节)假期',
  },
  { en: 'examination|exam|final exam|finals', zh: '期末考试|考试|期末' },
  { en: 'term|semester', zh: '学期' },
  { en: 'class|classes|lecture|lesson', zh: '上课|开课|结课' },
  { en: 'on call|on-call|duty', zh: '值班' },
  { en: 'handover|hand over', zh: '交接|交班' },
  { en: 'server room', zh: '机房' },
  { en: 'pay out|paid out|paid into', zh: '发放|发(?=[？?。]|$)' },
  { en: 'scholarship|grant|bursary|bursaries|stipend', zh: '奖学金' },
  { en: 'grade|mark|best|top student', zh: '成绩|绩点' },
  { en: 'apply|application', zh: '申请' },
  {
    en: 'top up|topping up|recharge|add money|put money|load money|balance|credit|most money',
    zh: '充值|存钱|充钱|余额|存(?=.{0,4}钱)|充',
  },
  {
    en: 'lost|lose|losing|loss|stolen|stole|missing|mislaid|misplaced|misplace|left my|can.?t find|cannot find|disappeared|gone|robbed',
    zh: '丢失|遗失|弄丢|丢了|丢|不见了|不见|找不到|找不着|掉了|被偷|偷|挂失',
  },
  {
    en: 'open|opens|opening|hours|close|closes|closed|closing|shut|be back|be home|get back|come back|come home|get home|get in|get into|stay out|curfew|lock|locked',
    zh: '开放|开到|几点[开关]|开门|关门|闭馆|开馆|门禁|锁门|关闭|[回进]宿舍|[回进]寝|晚归',
    isAspect: true,
  },
  {
    en: 'how much is|how much does|how much may|cost|price|fee|yuan|expensive|pay|worth',
    zh: '多少钱|费用|价格|(?<!是)多少(?![本个张次天台条份册人长])|几块钱|\\d 元|贵',
    isAspect: true,
  },
  { en: '(?<!my )phone|telephone|ring|call|calling|hotline', zh: '电话|拨打|打给', isAspect: true },
  { en: 'weekend|saturday|sunday', zh: '周末|周六|周日|星期六|星期天|星期日', isAspect: true },
  {
    en: 'working day|weekday|monday|tuesday|wednesday|thursday|friday',
    zh: '工作日|周一|周二|周三|周四|周五|星期[一二三四五]',
    isAspect: true,
  },
  { en: 'begin|start|starting|first bus', zh: '开始|开学|开课', isAspect: true },
];

const PATTERNS = CONCEPTS.map(({ en, zh }) => new RegExp(String.raw`\b(?:${en})s?\b|${zh}`, 'giu'));

/** Words that a question may contain without being about them. Compared as stems. */
const INCIDENTAL = new Set(
  (
    'university campus campu campuse college school student staff employee teacher person people colleague thing way time hour minute day week month year ' +
    'night tonight morning morn noon afternoon evening today tomorrow now currently soon late later latest early number many much long often far ' +
    'allow able possible still also just only really very quite too again more less most any anymore at once same ring mine myself yourself ' +
    'someone somebody something anything everything anywhere somewhere else other another each every both few own go going come coming take ' +
    'taking put bring leave leaving tell say see look looking ask help like like would could might per when up out off over in onto into ' +
    'through during until till before after within without between since while because around about back down away near there here money ' +
    'maximum minimum old new good right it im ive ill id dont cant whats wheres hows whens theres wont didnt isnt doesnt getting got gett ' +
    'give given giv keep try try set stay arrive reach receive expect suppose supposed happen happened pick hand work working worker do done ' +
    'being having been went made making mak run runn running must need needed deadline date place phone laptop computer tablet device please ' +
    'hello hi hey sorry quick question info information know knew think guess wonder wondering idea exactly usually normally ' +
    'generally actually ahead advance twice two three four five six seven eight nine ten eleven twelve twenty one second third limit period frequently frequent nightly daily weekly per am pm ur r u pls wanna gonna'
  ).split(' '),
);
const CHINESE_INCIDENTAL = new Set(
  (
    '学校 校园 学生 老师 教职工 员工 同学 大家 有人 别人 时间 时候 今天 明天 现在 早上 上午 中午 下午 晚上 夜里 半夜 凌晨 每天 每年 一年 一天 ' +
    '访问 办理 进行 连接 连上 出去 出来 进去 回来 回去 过来 里面 外面 是否 最多 最少 最晚 最早 最迟 最后 一般 通常 大概 具体 规定 要求 截止 期限 ' +
    '哪几 几天 哪天 几点 几次 几本 几册 几号 几台 多少钱 多少天 多久 借的 还要 还是 还有 可不可以 能不能 要不要 有没有 不能 不会 不是 应该 必须 ' +
    '以及 或者 如果 之后 以后 之前 以前 之内 以内 提前 同时 怎么办 什么 需要 提交 上交 一次 一个 给我 帮我 我要 我想 想要 要多 多好 才能 拿到 领到 标准 每次 没去 电脑 ' +
    '手机 设备 请问 谢谢 你好 知道 告诉 地方 离开 前往 一张 发车 出发 开车 一班 多长 放到 前要 迟到'
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
    (word) => !INCIDENTAL.has(word) && !HAN.test(word) && !/^\d+$/.test(word),
  );
  const others = [...new Set([...unknown, ...chineseWordsOf(rest)])];
  return {
    // In the order of the question, since the search reads single Chinese characters as one word.
    words: [...words, ...others].sort((left, right) => question.indexOf(left) - question.indexOf(right)),
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
