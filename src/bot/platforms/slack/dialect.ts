import type { Dialect } from '../markdown/dialect.ts';

/** Slack's own marks: `<!here>`, `<@U1>`, `<#C1>`, `<!date^…>`; whatever begins so is one to some client, however it is written. */
const SLACK_MARK = /(?:<|&(?:lt|#0{0,5}60|#x0{0,5}3c);)(?=\\?[!@#])/gi;
/** `<address|label>`: Slack's way to hide an address behind a label. */
const LABELLED_LINK = /<((?:https?|mailto|tel|slack):[^\s<>|]{1,2000})\|([^<>\n]{0,300})>/gi;

/**
 * Slack's `markdown_text`: standard markdown (PLATFORM_FACTS.md slack-assistant). A native stream is only ever added to, so what is
 * unfinished is held back until it is whole.
 */
export const SLACK_DIALECT: Dialect = {
  name: 'slack',
  unfinished: 'hold',
  alterOwnMarks: (text) => text.replace(SLACK_MARK, '＜').replace(LABELLED_LINK, '$2 ($1)'),
};
