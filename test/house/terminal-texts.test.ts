import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import ts from 'typescript-api';
import { translatorTo } from '../../src/cli/terminal/translate.ts';

const translate = translatorTo('zh');

/** What a terminal shows: the command line, the settings, and what the platforms and files say about them. */
const SHOWN = [
  ...sourcesIn(
    'src/cli',
    /terminal\/|setup-texts|sign-in-probe\/(?:pages|server)|completion|eval\/(?:judge-model|report)/,
  ),
  ...sourcesIn('src/bot/config', /describe-settings|settings-zh|schema\//),
  ...sourcesIn('src/bot/app/local', /supervised-worker|embedded-redis-state/),
  ...['slack', 'wecom'].map((name) => `src/bot/platforms/${name}/check-settings.ts`),
  'src/bot/platforms/wecom/connection/check-connection.ts',
  'src/bot/platforms/slack/app-rights.ts',
  'src/bot/app/missing-dependencies.ts',
  'src/bot/app/take-free-ports.ts',
  'src/bot/knowledge/dify/check-dify.ts',
  'src/bot/knowledge/folder/check-folder.ts',
  'src/bot/knowledge/site/check-site.ts',
  'src/bot/knowledge/knowledge-file.ts',
  'src/bot/policy/policy-file.ts',
  'src/bot/policy/scenes-file.ts',
  'src/bot/tools/tools-file.ts',
  'src/service/clients-file.ts',
  'src/shared/models/models-file.ts',
  'src/shared/text/format-zod-error.ts',
];

/** Not shown in a terminal, or the same in each language. */
const NOT_SHOWN = [
  /^(?:npm (?:start|run)|parley|printf|Bearer|# Written by|GET |POST |--as |--by |an administrator ran |\{)/,
  /^(?:these settings|other settings|something else|openid profile|Tells the time|Say OK\.|Which colour|no token|group @)/,
  /^(?:the files |Parley (?:could not start|stops because)|shutting down|ended a redis-server|Local mode started)/,
  /^(?:all --message|top-up --department|The command line accepts only targets)/,
  /^(?:Redis and retention|Local mode|Reference service|Microsoft Teams|Slack @|@ in @)$/,
];

/** Parts of sentences, which are translated as a whole (test/cli/terminal/translate.test.ts). */
const PARTS = [
  /^(?:takes verify or show|must not be empty)$/,
  /^,? ?(?:in local mode|and |or |as a string|sent as|another|Your browser|\(SLACK|\(KNOW|\(a non)|^; |^, /,
  /^(?:in local mode|already set;|Your browser opens|Slack and browsers reach|browsers reach|\(SLACK_CONNECT|\(a non-)/,
  /^(?:requires a user id|takes (?:a |at most |bash |8 to |the 40 )|It @\.)/,
  /^(?:for at most|The running answer is|is missing:|is not|public documents of|documents that they|Connected chat)/,
  /^(?:Parley (?:is running|has started|cannot start: @ setting)@|Open @ in a browser|Waiting for the last calls)/,
  /^(?:@ running answers are|@ being finished, @|@ @ not in MODELS_FILE|remove the empty @|@ are required too|@, but no)/,
  /^(?:JSON with|JSON, but not|form-encoded with|text of @|the access token|the issuer|still works|is invalid|@ as seconds)/,
  /^(?:@, @ on @|in a private chat|in the group @|@ answers@, for @|with the key|too much data|with status @)$/,
  /^must (?:not be empty|be PLATFORM:ID|be a whole number of at least 1)$/,
  /^(?:@ in @@|@ lists @@?|one page|@ other sitemaps)$/,
  /^(?:PUBLIC_URL is @, but Slack|without state and PKCE, .*@$|requires @: set @ too|must be @$|@ or @$|@ is not a setting)/,
];

function sourcesIn(folder: string, except: RegExp): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => path.endsWith('.ts') && !except.test(path));
}

/** The texts of a file that read like words, each value as `@`. */
function textsOf(path: string): string[] {
  const texts: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) return;
    // A text that has both languages.
    if (ts.isPropertyAssignment(node) && node.name.getText() === 'en') return;
    if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) texts.push(node.text);
    if (ts.isTemplateExpression(node))
      texts.push(node.head.text + node.templateSpans.map(({ literal }) => `@${literal.text}`).join(''));
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true));
  return texts.map((text) => text.trim()).filter((text) => /[a-z]{2,}[:;]? [a-z@(]/i.test(text));
}

test('each text of the terminal has a Chinese translation', () => {
  const isChinese = (text: string) => /\p{Script=Han}/u.test(text);
  // A value is a number, or the name of a setting.
  const isTranslated = (text: string) =>
    ['7', 'X7'].some((value) => isChinese(translate(text.replaceAll('@', value)))) || isChinese(translate(`X ${text}`));
  const missing = SHOWN.flatMap((path) =>
    textsOf(path)
      .filter((text) => ![...NOT_SHOWN, ...PARTS].some((pattern) => pattern.test(text)))
      .filter((text) => !isChinese(text) && !isTranslated(text))
      .map((text) => `${path}: ${text}`),
  );
  expect(missing).toEqual([]);
});
