import { SETTING_GROUPS, SETTING_NAMES, settingsSchema, type SettingName } from './schema.ts';
import { settingInfo, type SettingInfo, type SettingLevel } from './setting.ts';

const LINE_CHARS = 100;

/** A group of settings as it is documented. */
interface Chapter {
  title: string;
  names: SettingName[];
}

/** The settings that most deployments need, regardless of their group. */
const FIRST_TITLE = 'First settings';
const FURTHER_LEVELS = [
  { level: 'common', title: 'Common settings', suffix: '' },
  { level: 'advanced', title: 'Advanced settings', suffix: ', advanced' },
] as const;

/** The settings of a level by group, without empty groups. */
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

/** Renders `docs/SETTINGS.md`: the first settings, then one table per group for each further level. */
export function renderSettingsPage(): string {
  const opening = [
    '# Settings',
    '<!-- Generated from src/bot/config by npm run settings:docs. -->',
    'This page lists every setting with its default and its meaning.',
    [
      'Settings come from the environment, then from `config/.env` (or the file named by `ENV_FILE`), then from the defaults.',
      'A secret can come from a file instead: `SECRET_KEY_FILE=/run/secrets/parley-key`.',
      'While a default file in `config/` does not exist, the one of the same name in `defaults/` applies. A file that a setting names must exist.',
      '`npm start` reports all invalid settings at once, and `npm run check` tests the configured services.',
      'Without platform credentials and `ROLES`, Parley runs in local mode.',
      '`config/.env.example` is a template with the same settings.',
    ].join('\n'),
  ];
  const first = [
    `## ${FIRST_TITLE}`,
    'Most deployments need these and the credentials of one platform. To use a connection instead of webhooks, or to identify people inside the platform, also set the common settings of that platform.',
    tableOf(namesAt('first', SETTING_NAMES)),
  ];
  const further = FURTHER_LEVELS.flatMap(({ level, title, suffix }) => [
    `## ${title}`,
    ...chaptersOf(level, suffix).flatMap((chapter) => [`### ${chapter.title}`, tableOf(chapter.names)]),
  ]);
  return [...opening, ...first, ...further].join('\n\n') + '\n';
}

function tableOf(names: readonly SettingName[]): string {
  return ['| name | default | meaning |', '| --- | --- | --- |', ...names.map(tableRow)].join('\n');
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

function tableRow(name: SettingName): string {
  const { meaning, default: fallback = '', isSecret } = describeSetting(name);
  const shown = fallback !== '' && !fallback.includes(' ') ? `\`${fallback}\`` : fallback;
  const cells = [`\`${name}\``, shown, isSecret ? `${meaning} Secret.` : meaning];
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
