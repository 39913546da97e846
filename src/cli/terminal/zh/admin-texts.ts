/** The subcommands of `admin`: their help and their output. */
export const ADMIN_TEXTS = {
  'The data is stored in the Redis of npm start, which is not running: run npm start first':
    '数据保存在 npm start 的 Redis 中，但它没有运行：请先运行 npm start',
  // trace
  'explains what happened to a question, with times and tokens but without text':
    '说明一个问题的处理过程，含时间和 token 数，不含正文',
  'the reference that the person was given, or the trace of a log line': '用户得到的参考编号，或日志中的 trace',
  'It takes 8 to 40 digits and letters from a to f.': '应为 8 到 40 位的数字和字母 a 至 f。',
  'No question has this reference; it is kept for a day': '没有此编号对应的问题；记录保存一天',
  'question: {id}': '问题：{id}',
  'conversation: {id}': '对话：{id}',
  'person: {id}': '用户：{id}',
  'state: {state}': '状态：{state}',
  'answered with': '合并回答',
  'answered with: {id}': '合并回答：{id}',
  'model: {model}': '模型：{model}',
  'rule: {rule}': '规则：{rule}',
  'delivered: {delivery}': '送达方式：{delivery}',
  '{at}  accepted': '{at}  已接收',
  '{at}  woken': '{at}  已唤醒',
  '{at}  claimed {values}': '{at}  已领取 {values}',
  '{at}  model asked {values}': '{at}  调用模型 {values}',
  '{at}  first token': '{at}  首个 token',
  '{at}  model call ended {values}': '{at}  模型调用结束 {values}',
  '{at}  tokens {values}': '{at}  token 数 {values}',
  '{at}  snapshots {values}': '{at}  快照 {values}',
  '{at}  posts {values}': '{at}  发送 {values}',
  '{at}  edits {values}': '{at}  编辑 {values}',
  '{at}  moderated {values}': '{at}  审核 {values}',
  '{at}  refused {values}': '{at}  拒绝 {values}',
  '{at}  error {values}': '{at}  错误 {values}',
  '{at}  ended {values}': '{at}  结束 {values}',
  // workers
  'lists the receivers and workers, with their answers in progress': '列出 receiver 和 worker，以及正在生成的回答数',
  'No receiver or worker is running': '没有运行中的 receiver 或 worker',
  alive: '正常',
  draining: '正在关闭',
  'not responding': '无响应',
  '{id}  {state}  {roles}  version {version}, host {host}, process {pid}, started {at}, seen {number} s ago':
    '{id}  {state}  {roles}  版本 {version}，主机 {host}，进程 {pid}，启动于 {at}，{number} 秒前有心跳',
  '{id}  {state}  {roles}  version {version}, host {host}, process {pid}, started {at}, seen {number} s ago, answers {values} of {limit}':
    '{id}  {state}  {roles}  版本 {version}，主机 {host}，进程 {pid}，启动于 {at}，{number} 秒前有心跳，回答 {values}/{limit}',
  // dead-letters
  'lists questions that were given up or could not be read, without their text': '列出被放弃或无法读取的问题，不含正文',
  'No dead letters': '没有死信',
  'its workers crashed': '工作进程崩溃',
  'it could not be decrypted': '无法解密',
  '{id}  {at}  {reason}, messages: {count}': '{id}  {at}  {reason}，消息 {count} 条',
  '{id}  {at}  {reason}, messages: {count}, replayed {when}': '{id}  {at}  {reason}，消息 {count} 条，已于 {when} 重放',
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
  'prints questions, tokens and costs by day, person, department or model':
    '按天、用户、部门或模型输出提问数、token 数和费用',
  'prints CSV': '以 CSV 输出',
  'from this day on; usage is stored for 40 days, so that a month is complete until the 9th of the next':
    '从这一天起；用量保存 40 天，整月的数据可在次月 9 日前完整查看',
  'up to and including this day': '到这一天为止（含当天）',
  '--until must not be before --since': '--until 不能早于 --since',
  'It takes a date such as 2026-11-01.': '应为日期，例如 2026-11-01。',
  'groups by day (default), person, department or model': '按天（默认）、用户、部门或模型分组',
  'No usage is stored': '没有已保存的用量',
  '{name}  questions: {count}, tokens: {number}': '{name}  提问 {count} 次，token {number}',
  '{name}  questions: {count}, tokens: {number}, costs: {amounts}':
    '{name}  提问 {count} 次，token {number}，费用 {amounts}',
  // unanswered
  'counts questions without a helpful answer by words of their topics: no source, refused, thumbs down':
    '按主题词统计没有得到解答的问题：没有来源、被拒绝、差评',
  'prints the questions one by one, with their texts if UNANSWERED_TEXT allows it':
    '逐条输出问题；UNANSWERED_TEXT 允许时带原文',
  'from this day on; they are stored for 40 days': '从这一天起；保存 40 天',
  'No unanswered questions are stored': '没有已保存的未解答问题',
  '{name}  questions: {count} ({list})': '{name}  问题 {count} 个（{list}）',
  // pause, resume, pauses
  'pauses the bot, a platform, a group or a model: questions get a sentence instead of an answer':
    '暂停机器人、某个平台、某个群或某个模型：提问会得到一句说明，而不是回答',
  '`all`, `platform:NAME`, `group:ID` or `model:NAME`': '`all`、`platform:名称`、`group:编号` 或 `model:名称`',
  'It must be all, platform:NAME, group:ID or model:NAME.': '必须是 all、platform:名称、group:编号 或 model:名称。',
  'a text that people read too': '同时显示给用户的文字',
  'It must not be empty.': '不能为空。',
  'ends a pause': '结束暂停',
  'lists what is paused': '列出已暂停的项目',
  'Nothing is paused': '没有暂停任何项目',
  'Paused: {target}': '已暂停：{target}',
  'There is no model {name}. Models: {list}': '没有模型 {name}。可用的模型：{list}',
  'Resumed: {target}': '已恢复：{target}',
  'Not paused: {target}': '没有暂停：{target}',
  // budget
  'shows the use of a budget, or adds to one of its limits for the rest of the day or month':
    '显示额度的用量，或在当天、当月内增加其某项上限',
  'what to do': '要执行的操作',
  'an account, or PLATFORM:TENANT:USER for a person who is not signed in': '学工号；未登录的人为 PLATFORM:TENANT:USER',
  'a department code as in the policy file': '权限文件中的部门代码',
  'a group, as PLATFORM:ID': '群，写作 PLATFORM:ID',
  'It must be PLATFORM:ID.': '必须写作 PLATFORM:ID。',
  'a model': '模型',
  'the limit to add to': '要增加的上限',
  'how much to add': '增加的数量',
  'It must be a whole number of at least 1.': '必须是不小于 1 的整数。',
  'Name one of --person, --department, --group and --model': '请指定 --person、--department、--group、--model 之一',
  'Name --limit and --add': '请指定 --limit 和 --add',
  'Added {count} to {limit}, {number} in all until the end of its day': '{limit} 已增加 {count}，当天共增加 {number}',
  'Added {count} to {limit}, {number} in all until the end of its month': '{limit} 已增加 {count}，当月共增加 {number}',
  'The policy file sets no {limit} for {code}. It sets limits for: {list}':
    '权限文件没有为 {code} 设置 {limit}。已设上限的有：{list}',
  'No sign-in and no use of this account is stored. Check the account.': '没有此账号的登录或用量记录，请核对账号。',
  '{limit}: used {count}, added {number}': '{limit}：已用 {count}，增加 {number}',
  '{limit}: used {count}, added {number}, limit {max}': '{limit}：已用 {count}，增加 {number}，上限 {max}',
  // audit, hold, erase
  'checks the files of the audit record (verify) or prints it with names (show)':
    '检查审计记录的文件（verify），或连同姓名输出（show）',
  'verify or show': 'verify 或 show',
  'It takes verify or show.': '应为 verify 或 show。',
  'show: entries of one account only': 'show：只输出一个账号的条目',
  'show: entries since a date or a time (UTC)': 'show：从某个日期或时间（UTC）起的条目',
  'It takes a date such as 2026-11-01 or a time such as 2026-11-01T08:00:00Z.':
    '应为日期（例如 2026-11-01）或时间（例如 2026-11-01T08:00:00Z）。',
  'There are no audit files: AUDIT_DIR is not set': '没有审计文件：未设置 AUDIT_DIR',
  'Intact. Files: {count}, lines: {number}': '完整。文件 {count} 个，共 {number} 行',
  '{name}: the file is missing': '{name}：文件缺失',
  '{name}: the line was changed, removed, added or moved': '{name}：该行被改动、删除、添加或移动',
  '{name}: the key of the file is not in SECRET_KEY or SECRET_KEY_PREVIOUS':
    '{name}：SECRET_KEY 和 SECRET_KEY_PREVIOUS 中没有该文件的密钥',
  '{name}: lines are missing from here on': '{name}：从此处起缺少行',
  '{name}: lines were added from here on': '{name}：从此处起多出行',
  'puts an account on legal hold: nothing of it is erased or expires':
    '对一个账号实施法律保留：其数据不会被删除，也不会过期',
  'staff or student number, or PLATFORM:USER for a person who has not signed in':
    '学工号；未登录过的人写作 PLATFORM:USER',
  'ends the hold': '结束保留',
  'The legal hold has ended': '法律保留已结束',
  'There is no legal hold on this account': '此账号没有法律保留',
  'On legal hold. Chat accounts: {count}, stored items: {number}':
    '已实施法律保留。聊天账号 {count} 个，数据 {number} 项',
  'erases everything stored about an account, and records a proof': '删除一个账号的全部数据，并记录证明',
  'Erased. Proof {id} in the audit record:': '已删除。审计记录中的证明 {id}：',
  'Nothing is stored about this account': '没有此账号的数据',
  'Not erased: this account is on legal hold. End the hold first: hold ACCOUNT --release':
    '未删除：此账号处于法律保留。请先结束保留：hold ACCOUNT --release',
  'Not complete: messages that are still being answered: {count}. Run the command again':
    '尚未完成：还有 {count} 条消息正在回答。请再次运行此命令',
  'Not complete: another process is writing the audit record. Run the command again':
    '尚未完成：另一个进程正在写审计记录。请再次运行此命令',
} as const;
