/** The bot's words, as people type them with a slash where the app does not keep what begins with one for itself. */
const WORDS = /(?<![\w:/.])\/(help|new|stop|retry|model|think|lang|usage|export|forget|whoami|signin|unlink)\b/g;

/** Names the bot's words as they are typed in Slack: without the slash. */
export function withBareWords(text: string): string {
  return text.replace(WORDS, '$1');
}
