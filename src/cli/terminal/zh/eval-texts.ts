/** `eval`: progress, results, faults. */
export const EVAL_TEXTS = {
  'The directory has no person for {people}: name a person of the directory, or write for example JG 3100, XS 2203 or unlinked':
    '人员列表中没有 {people}：请写人员列表中的人，或例如 JG 3100、XS 2203、unlinked',
  'Starting a temporary Parley ...': '正在启动临时的 Parley……',
  'Stopping the temporary Parley ...': '正在停止临时的 Parley……',
  'Waiting for the documents to be indexed ...': '正在等待文档建立索引……',
  '{count} questions of {file}, at most {limit} a minute, to {model}':
    '{file} 中的 {count} 个问题，每分钟最多 {limit} 个，模型 {model}',
  'Question {number} of {count}: {question}': '第 {number} 个问题，共 {count} 个：{question}',
  'Interrupted after {number} of {count} questions': '已中断：完成 {number} 个问题，共 {count} 个',
  'Parley did not become ready: no documents were indexed. Run npm start to see the cause':
    'Parley 未能就绪：没有文档建立索引。请运行 npm start 查看原因',
  '{path} is not a run saved by npm run eval': '{path} 不是 npm run eval 保存的运行记录',
  '{path} cannot be read ({code})': '无法读取 {path}（{code}）',
  'No sign-in link arrived for {person}': '{person} 没有收到登录链接',
  '{person} could not be signed in': '{person} 无法登录',
  'does not cite the source “{title}”': '没有引用来源“{title}”',
  'the judge did not answer': '评判模型没有回答',
  'the judge answered neither yes nor no': '评判模型没有回答是或否',
  'the judge answered no: {criterion}': '评判模型回答否：{criterion}',
  '{number} of {count} questions passed': '{count} 个问题中 {number} 个通过',
  'compared with {run}: {better} better, {worse} worse, {same} the same, {new} new':
    '与 {run} 相比：{better} 个变好，{worse} 个变差，{same} 个不变，{new} 个新增',
  'lacks “{text}”': '缺少“{text}”',
  'says “{text}”': '不应出现“{text}”',
  'worse: {question}': '变差：{question}',
  'better: {question}': '变好：{question}',
} as const;
