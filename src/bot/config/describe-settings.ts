import { SETTING_GROUPS, SETTING_NAMES, settingsSchema, type SettingName } from './schema.ts';
import { settingInfo, type SettingInfo } from './setting.ts';

const LINE_CHARS = 100;

/** The whole text of `config/.env.example`: every setting, commented out, with its default or an example. */
export function renderEnvExample(): string {
  const opening = [
    '# Settings of Parley. Copy this file to config/.env and remove the # before what you set.',
    '# The process environment comes first, then that file, then the defaults. A secret may lie in a file of its own:',
    '# NAME_FILE=/run/secrets/name. Without any setting, `npm start` runs in local mode.',
    '# A name with nothing behind it is a fault here, since it was forgotten; in the process environment, where container',
    '# tools write one for what is not set, it counts as unset and is told.',
  ];
  const groups = SETTING_GROUPS.map(({ title, settings }) =>
    [`# --- ${title}`, ...Object.keys(settings).map((name) => exampleOf(name as SettingName))].join('\n\n'),
  );
  return [opening.join('\n'), ...groups].join('\n\n') + '\n';
}

/** The whole text of `docs/SETTINGS.md`: a table for each group. */
export function renderSettingsPage(): string {
  const opening = [
    '# Settings',
    '<!-- Made by npm run settings:docs from src/bot/config. -->',
    'This page names every setting, its default and its meaning.',
    [
      'Settings are read from the environment, then from `config/.env` (or the file that `ENV_FILE` names), then the default.',
      'A secret can come from a file instead: `SECRET_KEY_FILE=/run/secrets/parley-key`.',
      '`npm start` names every fault at once, and `npm run check` tries what is set.',
      "With no platform's credentials and no `ROLES`, Parley is in local mode.",
      '`config/.env.example` holds the same, to be copied.',
    ].join('\n'),
  ];
  const tables = SETTING_GROUPS.map(({ title, settings }) => {
    const rows = Object.keys(settings).map((name) => tableRow(name as SettingName));
    return [`## ${title}`, '', '| name | default | meaning |', '| --- | --- | --- |', ...rows].join('\n');
  });
  return [...opening, ...tables].join('\n\n') + '\n';
}

/** What people read about a setting. */
export function describeSetting(name: SettingName): SettingInfo {
  const info = settingInfo.get(settingsSchema.shape[name]);
  if (!info) throw new Error(`The setting ${name} is not described`);
  return info;
}

/** Names and values of the example file as they would count if nothing were commented out; for the tests. */
export function exampleValues(): Record<string, string> {
  const described = SETTING_NAMES.map((name) => ({ name, ...describeSetting(name) }));
  return Object.fromEntries(described.map(({ name, example, ...info }) => [name, example ?? typedDefault(info) ?? '']));
}

/** The default where it can be typed; words are for people only. */
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
