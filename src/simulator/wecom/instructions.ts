/** The bot's instructions in Chinese, which people type without a slash. */
const CHINESE = '帮助|新对话|停止|重试|模型|思考|语言|用量|清除|导出|我是谁|登录|解绑';
const INSTRUCTION = new RegExp(`^(?:[/／]\\p{L}+|${CHINESE})[。.!！]?(?:\\s|$)`, 'u');

/**
 * Whether a message is an instruction to the bot, such as `/stop`, rather than a question; in a group its mention may stand on either
 * side. WeCom does not say what its client does with a fourth message beside three open ones; here an instruction goes through,
 * since somebody who waits for answers must be able to end them.
 */
export function isInstruction(text: string, botName: string): boolean {
  const mention = `@${botName}`;
  const trimmed = text.trim();
  const said = trimmed.startsWith(mention)
    ? trimmed.slice(mention.length)
    : trimmed.endsWith(mention)
      ? trimmed.slice(0, -mention.length)
      : trimmed;
  return INSTRUCTION.test(said.trim());
}
