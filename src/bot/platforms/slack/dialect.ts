import type { Dialect } from '../markdown/dialect.ts';

/**
 * Slack's control sequences: `<!here>`, `<@U1>`, `<#C1>`, `<!date^…>`. Any text that begins like one, in any notation, is a
 * control sequence to some client.
 */
const SLACK_MARK = /(?:<|&(?:lt|#0{0,5}60|#x0{0,5}3c);)(?=\\?[!@#])/gi;
/** `<address|label>`, which hides an address behind a label. */
const LABELLED_LINK = /<((?:https?|mailto|tel|slack):[^\s<>|]{1,2000})\|([^<>\n]{0,300})>/gi;

/**
 * Slack's `markdown_text`: standard markdown (PLATFORM_FACTS.md slack-web-api). A native stream can only be appended to,
 * so unfinished markdown is held back until it is complete. render-reply.ts writes answers in it.
 */
export const SLACK_DIALECT: Dialect = {
  name: 'slack',
  unfinished: 'hold',
  neutraliseOwnMentions: (text) => text.replace(SLACK_MARK, '＜').replace(LABELLED_LINK, '$2 ($1)'),
};
