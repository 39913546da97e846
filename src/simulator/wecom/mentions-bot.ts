/**
 * Whether a group message mentions the bot, `@Name`. The name must end there: `@Parleyman` is another name. Han letters may
 * follow directly, because Chinese is written without spaces.
 */
export function mentionsBot(text: string, botName: string): boolean {
  const mention = `@${botName}`;
  for (let at = text.indexOf(mention); at >= 0; at = text.indexOf(mention, at + 1)) {
    const following = text.slice(at + mention.length);
    if (!/^[\p{Script=Latin}\p{Number}_-]/u.test(following)) return true;
  }
  return false;
}
