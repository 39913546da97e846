/** The bot's commands in Chinese, typed without a slash. */
const CHINESE = '帮助|新对话|停止|重试|模型|思考|语言|用量|清除|导出|我是谁|登录|解绑';
const INSTRUCTION = new RegExp(`^(?:[/／]\\p{L}+|${CHINESE})[。.!！]?(?:\\s|$)`, 'u');

/**
 * Whether a message is a command, such as `/stop`, rather than a question; in a group the mention may precede or follow it.
 * WeCom does not document what its client does with a fourth message beside three open ones. Here commands are allowed, so
 * that a person who waits for answers can stop them.
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
