import { type AbilityRow } from './ability-row.ts';

/** The model's tools. */
export const TOOL_ROWS: readonly AbilityRow[] = [
  {
    name: 'tools: the current time',
    steps: [
      {
        says: { en: 'What time is it in Tokyo?', zh: '东京现在几点？' },
        reads: {
          en: /^`current_time` answered:\n\n> \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \(\w+day\), time zone Asia\/Tokyo\n/,
          zh: /^`current_time` 的结果：\n\n> \d{4}年\d+月\d+日星期. \d\d:\d\d:\d\d（时区 Asia\/Tokyo）\n/,
        },
      },
    ],
  },
  {
    name: 'tools: who am I, in the private chat only',
    steps: [
      {
        says: { en: 'Do you know who I am?', zh: '你知道我是谁吗？' },
        reads: {
          en: /^`who_am_i` answered:\n\n> Name: Emma Clarke *\n> Staff or student number: 20190012 *\n> Identity: staff *\n> Department: School of Architecture \(2107\)/,
          zh: /^`who_am_i` 的结果：\n\n> 姓名: 张伟 *\n> 学工号: 20080117 *\n> 身份: 教职工 *\n> 部门: 信息化办公室 \(3100\)/,
        },
      },
      {
        says: { en: 'Do you know who I am?', zh: '你知道我是谁吗？' },
        in: 'group',
        reads: { en: /^I don't know: Parley's small/, zh: /^我不知道：Parley 内置/ },
        hides: /20190012|20080117/,
      },
    ],
  },
  {
    name: 'tools: web search, with progress',
    steps: [
      {
        says: { en: 'Search for otters', zh: '请搜索水獭' },
        doing: { en: 'Searching: otters', zh: '正在搜索：水獭' },
        reads: {
          en: /^`web_search` answered:\n\n> 1\. All about otters *\n> https:\/\/found\.example\/otters *\n> They sleep in the water\./,
          zh: /^`web_search` 的结果：\n\n> 1\. All about 水獭 *\n> https:\/\/found\.example\/%E6%B0%B4%E7%8D%AD *\n> They sleep in the water\./,
        },
      },
    ],
  },
  {
    name: 'tools: answer despite a tool that fails',
    steps: [
      {
        says: { en: 'Search for broken things', zh: '请搜索坏东西' },
        reads: {
          en: /^`web_search` answered:\n\n> The search service refused the search\..*I pass this on/s,
          zh: /^`web_search` 的结果：\n\n> The search service refused the search\..*只是原样转述/s,
        },
      },
    ],
  },
  {
    name: 'tools: page named in the question, with progress',
    steps: [
      {
        says: { en: 'What is on {web}/hours?', zh: '总结 {web}/hours' },
        doing: { en: /^Reading news\.library\.example/, zh: /^正在阅读 news\.library\.example/ },
        reads: {
          en: /^`read_page` answered:\n\n.*> The library opens at seven\./s,
          zh: /^`read_page` 的结果：\n\n.*> The library opens at seven\./s,
        },
      },
    ],
  },
];
