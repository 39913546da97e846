import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { botScopes, subscribedEvents } from '../../../../src/bot/platforms/slack/app-rights.ts';
import { readNamedSettings } from '../../../../src/bot/config/load-settings.ts';
import { readCommandLine } from '../../../../src/cli/command-line.ts';
import { MANIFEST_FILE, MANIFEST_SETTINGS, runSlackManifest } from '../../../../src/cli/slack-manifest-command.ts';
import { folderWith } from '../../config/environments.ts';

interface Manifest {
  display_information: { name: string; description: string };
  features: {
    agent_view?: object;
    slash_commands: { command: string; url?: string; description: string; should_escape: boolean }[];
  };
  oauth_config: { redirect_urls?: string[]; scopes: { bot: string[]; user?: string[] } };
  settings: {
    event_subscriptions: { request_url?: string; bot_events: string[] };
    interactivity: { is_enabled: boolean; request_url?: string };
    socket_mode_enabled: boolean;
  };
}

/** Runs the command in its own folder, as `npm run slack:manifest -- ...args` does. */
function run(env: Record<string, string> = {}, args: string[] = [], cwd = folderWith()) {
  const [said, aside]: [string[], string[]] = [[], []];
  const { values, faults } = readNamedSettings({ env, cwd }, MANIFEST_SETTINGS);
  const line = readCommandLine(['slack-manifest', ...args]);
  if (line.command === 'wrong') return { exitCode: 2, said: '', aside: line.complaint };
  if (line.command !== 'slack-manifest') throw new Error(`means ${line.command}`);
  const exitCode = runSlackManifest({
    ...{ asked: line.asked, cwd, settings: values, faults: faults.map(({ message }) => message) },
    output: { write: (text) => said.push(text) },
    asides: { write: (text) => aside.push(text) },
  });
  return { exitCode, said: said.join(''), aside: aside.join('') };
}

const HTTPS = { PUBLIC_URL: 'https://parley.example.org' };
const made = (env: Record<string, string> = {}, args: string[] = []): Manifest =>
  parse(run(env, [...args, '--print']).said) as Manifest;

describe('the Slack manifest', () => {
  test('has exactly the scopes, events and command that the code uses', () => {
    const { oauth_config: oauth, settings, features } = made(HTTPS);
    expect(oauth.scopes).toEqual({ bot: botScopes(false), user: ['openid'] });
    expect(settings.event_subscriptions.bot_events).toEqual(subscribedEvents({}));
    expect(features.slash_commands.map(({ command }) => command)).toEqual(['/parley']);
    expect(features.agent_view).toBeUndefined();
  });

  test('uses PUBLIC_URL for the webhook and the redirect address', () => {
    const { oauth_config: oauth, settings, features } = made(HTTPS);
    const webhook = 'https://parley.example.org/webhooks/slack';
    expect(settings).toMatchObject({
      event_subscriptions: { request_url: webhook },
      interactivity: { is_enabled: true, request_url: webhook },
      socket_mode_enabled: false,
    });
    expect(features.slash_commands[0]).toMatchObject({ url: webhook, should_escape: true });
    expect(oauth.redirect_urls).toEqual(['https://parley.example.org/oauth/platform/slack/callback']);
  });

  test('contains only the sign-in redirect address in socket mode', () => {
    const manifest = made({ ...HTTPS, SLACK_CONNECT: 'socket' });
    expect(manifest.settings.socket_mode_enabled).toBe(true);
    expect(JSON.stringify(manifest)).not.toContain('webhooks');
    expect(manifest.oauth_config.redirect_urls).toHaveLength(1);
  });

  test.each<[string, Record<string, string>, boolean]>([
    ['the same browser', { SIGN_IN_PROOF: 'same-browser' }, true],
    ['the same browser for Slack only', { SIGN_IN_PROOF: 'wecom:same-id,slack:same-browser' }, true],
    ['the same browser for another platform only', { SIGN_IN_PROOF: 'wecom:same-browser,slack:same-id' }, false],
    ['a typed code', { SIGN_IN_PROOF: 'typed-code' }, false],
    ['no sign-in', { SIGN_IN: 'off' }, false],
  ])('requests Slack sign-in only when it is the sign-in proof: %s', (_proof, env, isAskedFor) => {
    const { redirect_urls: urls, scopes } = made({ ...HTTPS, ...env }).oauth_config;
    expect([urls !== undefined, scopes.user !== undefined]).toEqual([isAskedFor, isAskedFor]);
  });

  test('accepts any characters in the bot name and is Chinese with --lang zh', () => {
    const name = "Lily's #1: 百合";
    const { display_information: shown, features } = made({ ...HTTPS, SLACK_BOT_NAME: name }, ['--lang', 'zh']);
    expect(shown.name).toBe(name);
    expect(features.slash_commands[0]?.description).toBe(`向 ${name} 提问`);
    expect(shown.description).toMatch(/回答问题/);
  });

  test('has the scope, event and view of an agent with --agent', () => {
    const { features, oauth_config: oauth, settings } = made(HTTPS, ['--agent']);
    expect(features.agent_view).toBeDefined();
    expect(oauth.scopes.bot).toContain('assistant:write');
    expect(settings.event_subscriptions.bot_events).toContain('agent_session_stopped');
  });

  test('uses only fields, scopes and events that @slack/web-api knows', () => {
    const known = readFileSync('node_modules/@slack/web-api/dist/types/request/manifest.d.ts', 'utf8');
    const union = (type: string) => new RegExp(`type ${type} = ([^;]*);`).exec(known)?.[1] ?? '';
    const { oauth_config: oauth, settings } = made(HTTPS);
    for (const scope of oauth.scopes.bot) expect(union('BotScope')).toContain(`'${scope}'`);
    for (const scope of oauth.scopes.user ?? []) expect(union('UserScope')).toContain(`'${scope}'`);
    for (const event of settings.event_subscriptions.bot_events) expect(union('ManifestEvent')).toContain(`'${event}'`);
    const fields = new Set([...known.matchAll(/^ +(\w+)\??:/gm)].map(([, name]) => name));
    const used = [...run(HTTPS, ['--print', '--agent']).said.matchAll(/^[ -]*(\w+):(?= |$)/gm)].map(([, name]) => name);
    expect(used.filter((name) => !fields.has(name))).toEqual([]);
    expect(used.length).toBeGreaterThan(20);
  });
});

describe('npm run slack:manifest', () => {
  test('writes the file and prints the next step without needing credentials', () => {
    const cwd = folderWith({ 'config/.env': 'PUBLIC_URL=https://bot.example.edu\nCHAT_BASE_URL=https://c.example\n' });
    const { exitCode, said, aside } = run({}, [], cwd);
    expect({ exitCode, aside }).toEqual({ exitCode: 0, aside: '' });
    expect(said).toContain('https://api.slack.com/apps');
    expect(readFileSync(join(cwd, MANIFEST_FILE), 'utf8')).toContain('https://bot.example.edu/webhooks/slack');
  });

  test('names PUBLIC_URL when it is not set', () => {
    const cwd = folderWith({ 'config/.env': '' });
    expect(run({}, [], cwd)).toMatchObject({ exitCode: 0, aside: expect.stringContaining('PUBLIC_URL is not set') });
  });

  test('prints the manifest when the file cannot be written', () => {
    const cwd = folderWith();
    const { exitCode, said } = run(HTTPS, [], cwd);
    expect({ exitCode, isWritten: existsSync(join(cwd, MANIFEST_FILE)) }).toEqual({ exitCode: 0, isWritten: false });
    expect(parse(said)).toMatchObject({ display_information: { name: 'Parley' } });
  });

  test.each<[string, Record<string, string>, string[], RegExp]>([
    ['an address that Slack cannot call', { PUBLIC_URL: 'http://127.0.0.1:8080' }, [], /https.*SLACK_CONNECT=socket/],
    ['an invalid setting', { ...HTTPS, SLACK_BOT_NAME: 'x'.repeat(36) }, [], /SLACK_BOT_NAME.*35/],
    ['an invalid argument', HTTPS, ['--lang', 'fr'], /en, zh/],
    ['an unknown argument', HTTPS, ['--agents'], /--agents[^]*parley slack-manifest --help/],
  ])('refuses %s with exit code 2 and an explanation', (_what, env, args, sentence) => {
    expect(run(env, args)).toMatchObject({ exitCode: 2, said: '', aside: expect.stringMatching(sentence) });
  });

  test('needs no public address in socket mode with sign-in off', () => {
    const env = { SLACK_CONNECT: 'socket', SIGN_IN: 'off', PUBLIC_URL: 'http://127.0.0.1:8080' };
    expect(run(env, ['--print'])).toMatchObject({ exitCode: 0, aside: '' });
  });
});
