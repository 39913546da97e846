/** The subcommands of `admin`: their help and their output. */
export const ADMIN_TEXTS = {
  'The data is stored in the Redis of npm start, which is not running: run npm start first':
    '数据保存在 npm start 的 Redis 中，但它没有运行：请先运行 npm start',
  // dead-letters
  'lists questions that were given up or could not be read, without their text': '列出被放弃或无法读取的问题，不含正文',
  'No dead letters': '没有死信',
  '{id}  {time}  its workers crashed, messages: {count}': '{id}  {time}  工作进程崩溃，消息 {count} 条',
  '{id}  {time}  its workers crashed, messages: {count}, replayed {when}':
    '{id}  {time}  工作进程崩溃，消息 {count} 条，已于 {when} 重放',
  '{id}  {time}  it could not be decrypted, messages: {count}': '{id}  {time}  无法解密，消息 {count} 条',
  '{id}  {time}  it could not be decrypted, messages: {count}, replayed {when}':
    '{id}  {time}  无法解密，消息 {count} 条，已于 {when} 重放',
} as const;
