import { describe, expect, test } from '@jest/globals';
import { SETTING_NAMES } from '../../src/bot/config/schema.ts';
import { AES_KEY, folderWith, load, SECRET_KEY, SERVING, without } from '../bot/config/environments.ts';
import { cutFences, readPage } from './pages.ts';

const PAGES = ['WECOM', 'SLACK', 'MODELS', 'SIGN_IN', 'KNOWLEDGE', 'OPERATIONS'];
/** Values for the lines that a page leaves to the operator. */
const FILLED: Readonly<Record<string, string>> = {
  ...SERVING,
  SECRET_KEY,
  WECOM_BOT_AES_KEY: AES_KEY,
  SLACK_BOT_TOKEN: 'xoxb-1-token',
  SLACK_SIGNING_SECRET: 'signing-secret-0123456789',
  SLACK_CLIENT_ID: '12345.67890',
  SLACK_CLIENT_SECRET: 'client-secret',
};
const LINE = /^(?:([A-Z][A-Z_]+)=.*|#.*|)$/;

/** The blocks of a page that an operator pastes into `config/.env`. */
function snippetsOf(path: string): string[] {
  return cutFences(readPage(path))
    .fences.filter(({ language }) => language === 'sh')
    .map(({ lines }) => lines)
    .filter((lines) => lines.every((line) => LINE.test(line)))
    .map((lines) => lines.join('\n'));
}

/** Writes values behind the empty names. A comment stays. */
function filled(snippet: string): string {
  return snippet.replaceAll(/^([A-Z_]+)=(?= *(?:#|$))/gm, (_, name: string) => `${name}=${FILLED[name] ?? ''}`);
}

/** Settings in the text of a list entry or a table row, such as those of one sign-in provider. */
function rowsOf(path: string): string[][] {
  return readPage(path)
    .split('\n')
    .map((line) => [...line.matchAll(/`([A-Z][A-Z_]+)=([^`]*)`/g)].map(([, name, value]) => `${name}=${value}`))
    .filter((given) => given.some((text) => text.startsWith('SIGN_IN_TYPE=')) && given.length > 1);
}

function faultsOf(text: string, base: Readonly<Record<string, string>>): string[] {
  const loaded = load(base, folderWith({ 'config/.env': text }));
  return [...(loaded.ok ? [] : loaded.faults.map(({ message }) => message)), ...loaded.warnings];
}

describe.each(PAGES.flatMap((name) => [`docs/guide/${name}.md`, `docs/zh-CN/${name}.md`]))('%s', (path) => {
  test('has snippets for config/.env that work when pasted and completed', () => {
    for (const snippet of snippetsOf(path)) {
      const names = [...snippet.matchAll(/^([A-Z_]+)=/gm)].map(([, name = '']) => name);
      expect(names.filter((name) => !SETTING_NAMES.some((known) => known === name))).toEqual([]);
      const isComplete = names.includes('PUBLIC_URL');
      expect(faultsOf(filled(snippet), isComplete ? {} : without(SERVING, ...names))).toEqual([]);
    }
  });

  test('has settings of sign-in providers that work together', () => {
    for (const row of rowsOf(path)) {
      const isCas = row.includes('SIGN_IN_TYPE=cas');
      const client = isCas ? ['SIGN_IN_CLIENT_ID', 'SIGN_IN_CLIENT_SECRET'] : [];
      expect(faultsOf(row.join('\n'), without(SERVING, 'SIGN_IN_URL', ...client))).toEqual([]);
    }
  });
});

test('the set-up pages of the platforms have a complete snippet, and those of sign-in several providers', () => {
  for (const folder of ['docs/guide', 'docs/zh-CN']) {
    for (const name of ['WECOM', 'SLACK'])
      expect(snippetsOf(`${folder}/${name}.md`).filter((text) => text.includes('PUBLIC_URL='))).toHaveLength(1);
    expect(snippetsOf(`${folder}/MODELS.md`)).toHaveLength(1);
    expect(rowsOf(`${folder}/SIGN_IN.md`).length).toBeGreaterThan(3);
  }
});
