/** The subcommands of `admin`: their help and their output. */
export const ADMIN_TEXTS = {
  'The data is stored in the Redis of npm start, which is not running: run npm start first':
    '数据保存在 npm start 的 Redis 中，但它没有运行：请先运行 npm start',
  // trace
  'explains what happened to a question, with times and without text': '说明一个问题的处理过程，含时间，不含正文',
  'the reference that the person was given, or the trace of a log line': '用户得到的参考编号，或日志中的 trace',
  'It takes 8 to 40 digits and letters from a to f.': '应为 8 到 40 位的数字和字母 a 至 f。',
  'No question has this reference; it is kept for a day': '没有此编号对应的问题；记录保存一天',
  'question: {id}': '问题：{id}',
  'conversation: {id}': '对话：{id}',
  'person: {id}': '用户：{id}',
  'state: {state}': '状态：{state}',
  'answered with: {id}': '合并回答：{id}',
  'model: {model}': '模型：{model}',
  'rule: {rule}': '规则：{rule}',
  'delivered: {delivery}': '送达方式：{delivery}',
  // dead-letters
  'lists questions that were given up or could not be read, without their text': '列出被放弃或无法读取的问题，不含正文',
  'No dead letters': '没有死信',
  '{id}  {time}  its workers crashed, messages: {count}': '{id}  {time}  工作进程崩溃，消息 {count} 条',
  '{id}  {time}  its workers crashed, messages: {count}, replayed {when}':
    '{id}  {time}  工作进程崩溃，消息 {count} 条，已于 {when} 重放',
  '{id}  {time}  it could not be decrypted, messages: {count}': '{id}  {time}  无法解密，消息 {count} 条',
  '{id}  {time}  it could not be decrypted, messages: {count}, replayed {when}':
    '{id}  {time}  无法解密，消息 {count} 条，已于 {when} 重放',
  // replay
  'puts a dead letter back as a question, once': '将一条死信重新作为提问处理，仅一次',
  'its id in the list of dead letters': '死信列表中的 id',
  'It takes the 40 digits and letters that dead-letters prints.': '应为 dead-letters 输出的 40 位数字和字母。',
  'The question was put back; it is answered within seconds': '问题已重新排队，几秒内开始回答',
  'No dead letter has this id; they are kept for seven days': '没有此 id 的死信；死信保存七天',
  'This dead letter was replayed before': '此死信已经重放过',
  'Too many messages wait in its conversation; try again later': '该对话中等待的消息过多，请稍后再试',
  'It cannot be decrypted with the present keys': '无法用现有密钥解密',
  // usage
  'prints questions and tokens by day, person, department or model': '按天、用户、部门或模型输出提问数和 token 数',
  'prints CSV': '以 CSV 输出',
  'from this day on; usage is stored for 40 days': '从这一天起；用量保存 40 天',
  'It takes a date such as 2026-11-01.': '应为日期，例如 2026-11-01。',
  'groups by day (default), person, department or model': '按天（默认）、用户、部门或模型分组',
  'No usage is stored': '没有已保存的用量',
  '{name}  questions: {count}, tokens: {number}': '{name}  提问 {count} 次，token {number}',
} as const;
