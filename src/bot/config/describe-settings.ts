import type { Language } from '../../shared/text/texts.ts';
import { SETTING_GROUPS, SETTING_NAMES, settingsSchema, type SettingName } from './schema.ts';
import { settingInfo, type SettingInfo, type SettingLevel } from './setting.ts';
import { CHINESE_TITLES, SETTINGS_ZH } from './settings-zh.ts';

const LINE_CHARS = 100;

/** A group of settings as it is documented. */
interface Chapter {
  title: string;
  names: SettingName[];
}

/** The settings that most deployments need, regardless of their group. */
const FIRST_TITLE = 'First settings';
const FURTHER_LEVELS = [
  { level: 'common', suffix: '' },
  { level: 'advanced', suffix: ', advanced' },
] as const;

function chaptersOf(level: SettingLevel, suffix: string): Chapter[] {
  return SETTING_GROUPS.map(({ title, settings }) => ({
    title: title + suffix,
    names: namesAt(level, Object.keys(settings) as SettingName[]),
  })).filter(({ names }) => names.length > 0);
}

function namesAt(level: SettingLevel, names: readonly SettingName[]): SettingName[] {
  return names.filter((name) => (describeSetting(name).level ?? 'advanced') === level);
}

/** Renders `config/.env.example`: every setting, commented out, with its default or an example. */
export function renderEnvExample(): string {
  const opening = [
    '# Settings of Parley. Copy this file to config/.env and remove the # in front of each setting you change.',
    '# The process environment takes precedence over that file, and that file over the defaults. A secret can be read from a',
    '# separate file: NAME_FILE=/run/secrets/name. Without any setting, `npm start` runs in local mode.',
    '# A name without a value is an error in this file. In the process environment it counts as unset and causes a warning,',
    '# because container tools pass empty names for unset variables.',
    '# The settings that most deployments need come first.',
  ];
  const chapters = [
    { title: FIRST_TITLE, names: namesAt('first', SETTING_NAMES) },
    ...FURTHER_LEVELS.flatMap(({ level, suffix }) => chaptersOf(level, suffix)),
  ];
  const groups = chapters.map(({ title, names }) => [`# --- ${title}`, ...names.map(exampleOf)].join('\n\n'));
  return [opening.join('\n'), ...groups].join('\n\n') + '\n';
}

/** The words of a settings page around the tables. */
interface PageWords {
  title: string;
  opening: readonly string[];
  firstTitle: string;
  first: string;
  levels: Readonly<Record<'common' | 'advanced', string>>;
  head: string;
  titleOf(title: string): string;
  rowOf(name: SettingName): { meaning: string; fallback: string; secret: string };
}

const ENGLISH_PAGE: PageWords = {
  title: '# Settings',
  opening: [
    'This page lists every setting with its default and its meaning.',
    [
      'Settings come from the environment, then from `config/.env` (or the file named by `ENV_FILE`), then from the defaults.',
      'A secret can come from a file instead: `SECRET_KEY_FILE=/run/secrets/parley-key`.',
      'While a default file in `config/` does not exist, the one of the same name in `defaults/` applies.',
      'SIGHUP reloads [files](guide/OPERATIONS.md#processes), not settings. `npm run check` tests the configured services.',
      'Without platform credentials and `ROLES`, Parley runs in local mode.',
    ].join('\n'),
  ],
  firstTitle: FIRST_TITLE,
  first:
    "Most deployments need these, with the credentials of one platform. Connections instead of webhooks, and sign-in inside the platform, also need the platform's settings under [Common settings](#common-settings).",
  levels: { common: 'Common settings', advanced: 'Advanced settings' },
  head: '| name | default | meaning |',
  titleOf: (title) => title,
  rowOf(name) {
    const { meaning, default: fallback = '' } = describeSetting(name);
    return { meaning, fallback, secret: ' Secret.' };
  },
};

const CHINESE_PAGE: PageWords = {
  title: '# 设置',
  opening: [
    '本页列出所有设置的默认值和含义。',
    [
      '设置依次取自环境变量、`config/.env`（或 `ENV_FILE` 指定的文件）和默认值。',
      '密钥也可以取自文件：`SECRET_KEY_FILE=/run/secrets/parley-key`。',
      'SIGHUP 会重新读取[文件](OPERATIONS.md#进程)，但不重新读取设置。`npm run check` 会测试已配置的服务。',
      '没有设置办公应用的凭证和 `ROLES` 时，Parley 以本地模式运行。',
      '`config/` 中没有某个默认文件时，使用 `defaults/` 中的同名文件。',
    ].join('\n'),
  ],
  firstTitle: '首要设置',
  first:
    '多数部署需要以下设置和一个办公应用的凭证。如需以长连接代替回调，或在办公应用内识别身份，还需要该办公应用的常用设置。',
  levels: { common: '常用设置', advanced: '高级设置' },
  head: '| 名称 | 默认值 | 含义 |',
  titleOf: (title) => title.replace(/^[^,]+/, (own) => CHINESE_TITLES[own] ?? own).replace(', advanced', '（高级）'),
  rowOf(name) {
    const { default: fallback = '' } = describeSetting(name);
    const { meaning, default: inWords } = SETTINGS_ZH[name];
    return { meaning, fallback: inWords ?? fallback, secret: '密钥。' };
  },
};

/** Renders `docs/SETTINGS.md` and its Chinese form: the first settings, then one table per group for each further level. */
export function renderSettingsPage(language: Language = 'en'): string {
  const words = language === 'zh' ? CHINESE_PAGE : ENGLISH_PAGE;
  const further = FURTHER_LEVELS.flatMap(({ level, suffix }) => [
    `## ${words.levels[level]}`,
    ...chaptersOf(level, suffix).flatMap(({ title, names }) => [`### ${words.titleOf(title)}`, tableOf(names, words)]),
  ]);
  return (
    [
      words.title,
      '<!-- Generated from src/bot/config by npm run settings:docs. -->',
      ...words.opening,
      `## ${words.firstTitle}`,
      words.first,
      tableOf(namesAt('first', SETTING_NAMES), words),
      ...further,
    ].join('\n\n') + '\n'
  );
}

function tableOf(names: readonly SettingName[], words: PageWords): string {
  return [words.head, '| --- | --- | --- |', ...names.map((name) => tableRow(name, words))].join('\n');
}

/** Description of a setting. */
export function describeSetting(name: SettingName): SettingInfo {
  const info = settingInfo.get(settingsSchema.shape[name]);
  if (!info) throw new Error(`The setting ${name} is not described`);
  return info;
}

/** Values of the example file as if no line were commented out. Used by tests. */
export function exampleValues(): Record<string, string> {
  const described = SETTING_NAMES.map((name) => ({ name, ...describeSetting(name) }));
  return Object.fromEntries(described.map(({ name, example, ...info }) => [name, example ?? typedDefault(info) ?? '']));
}

/** The default, if it can be typed. Other defaults are descriptions. */
function typedDefault({ default: fallback, example, isSecret }: SettingInfo): string | undefined {
  return example === undefined && !isSecret && fallback !== undefined && !fallback.includes(' ') ? fallback : undefined;
}

function exampleOf(name: SettingName): string {
  const info = describeSetting(name);
  const notes = [info.meaning, ...(info.default === undefined ? [] : [`Default: ${info.default}.`])];
  if (info.isSecret) notes.push(`Secret; ${name}_FILE works too.`);
  const value = info.example ?? typedDefault(info) ?? '';
  return [...wrap(notes.join(' ').replaceAll('`', '')).map((line) => `# ${line}`), `#${name}=${value}`].join('\n');
}

function tableRow(name: SettingName, words: PageWords): string {
  const { default: typed = '', isSecret } = describeSetting(name);
  const { meaning, fallback, secret } = words.rowOf(name);
  const isTyped = fallback === typed && fallback !== '' && !fallback.includes(' ');
  const cells = [`\`${name}\``, isTyped ? `\`${fallback}\`` : fallback, isSecret ? meaning + secret : meaning];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

function wrap(words: string): string[] {
  const lines = [''];
  for (const word of words.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line !== '' && line.length + word.length + 1 > LINE_CHARS) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines;
}
