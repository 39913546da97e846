/** The bot's commands, typed with a slash unless the app reserves slashes for itself. */
const WORDS = /(?<![\w:/.])\/(help|new|stop|retry|model|think|lang|usage|export|forget|whoami|signin|unlink)\b/g;

/** Writes the bot's commands as they are typed in Slack, without the slash. */
export function withBareWords(text: string): string {
  return text.replace(WORDS, '$1');
}
