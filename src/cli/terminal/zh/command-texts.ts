/** Help, complaints about arguments, and the small commands. */
export const COMMAND_TEXTS = {
  'Usage:': '用法：',
  'Arguments:': '参数：',
  'Options:': '选项：',
  'Commands:': '命令：',
  'Examples:': '示例：',
  'A chatbot for WeCom and Slack. Without a command, Parley starts.':
    '企业微信和 Slack 的聊天机器人。不带命令时启动 Parley。',
  'prints the version': '显示版本',
  'prints this text': '显示此帮助',
  'prints the help of a command': '显示某个命令的帮助',
  'Run {command} for all options.': '运行 {command} 查看所有选项。',
  'Run parley --help for all commands.': '运行 parley --help 查看所有命令。',
  'runs Parley; in local mode it opens the page in your browser': '运行 Parley；本地模式下会在浏览器中打开页面',
  'does not open a browser': '不打开浏览器',
  'asks for the settings, tries each answer and writes config/.env': '逐项询问设置，试用每个回答，并写入 config/.env',
  'takes all answers from the environment, by the names of docs/SETTINGS.md':
    '从环境变量读取所有回答，名称见 docs/zh-CN/SETTINGS.md',
  'tests each configured service: one line each with ok, hint, warning or fault, and the next step':
    '测试每项已配置的服务：每项一行，给出正常、提示、警告或错误，以及下一步',
  'tests real sign-ins in your browser; stop Parley first': '在浏览器中测试真实登录；请先停止 Parley',
  'with --sign-in: compares this chat user id with the profile (same-id)':
    '与 --sign-in 并用：将此成员账号与登录资料比对（same-id）',
  'with --sign-in: ages of the codes to test; defaults to 1,5,9,11':
    '与 --sign-in 并用：要测试的授权码时长，默认 1,5,9,11',
  'shows the rule, scene, models, tools and documents of a person in a place; append wecom or slack for one platform':
    '查看某人在某处适用的规则、场景、模型、工具和文档；可在末尾加 wecom 或 slack',
  'prints the results as JSON': '以 JSON 输出结果',
  'asks test questions and reports answers that fail their checks': '提出测试问题，并报告未通过的回答',
  'YAML file of questions; defaults to the included questions about the example documents':
    '问题的 YAML 文件；默认使用自带的示例文档问题',
  'compares with an earlier run': '与之前的一次运行比较',
  'also has the model judge each answer': '同时让模型评判每个回答',
  'maximum questions per minute': '每分钟最多提问次数',
  'prints the run as JSON': '以 JSON 输出本次运行',
  'prints the stored ratings of answers as CSV': '以 CSV 输出已保存的回答评价',
  'ratings of the last days only': '只输出最近几天的评价',
  'prints one JSON object per line instead': '改为每行输出一个 JSON 对象',
  'answers the questions of an administrator about the stored data': '供管理员查询已保存的数据',
  "creates a password entry for the service's user list, from a password on standard input":
    '从标准输入读取密码，为服务的用户列表生成密码串',
  'writes config/slack-manifest.yaml, the manifest of the Slack app, from the settings':
    '根据设置生成 Slack 应用清单 config/slack-manifest.yaml',
  "declares the app as an agent, for Slack's own stop button": '将应用声明为 agent，以使用 Slack 自带的停止按钮',
  'language of the descriptions': '描述文字的语言',
  'prints the manifest instead': '改为直接输出清单',
  'prints a completion script for your shell': '输出 shell 的自动补全脚本',
  'bash or zsh': 'bash 或 zsh',
  // Commander
  '{text} (default: {value})': '{text}（默认：{value}）',
  '{text} (choices: {choices})': '{text}（可选：{choices}）',
  '{text} (choices: {choices}, default: {value})': '{text}（可选：{choices}，默认：{value}）',
  "error: unknown option '{name}'": '错误：未知的选项 {name}',
  "error: unknown command '{name}'": '错误：未知的命令 {name}',
  '(Did you mean {name}?)': '（你要用的是 {name} 吗？）',
  '(Did you mean one of {names}?)': '（你要用的是 {names} 之一吗？）',
  "error: missing required argument '{name}'": '错误：缺少参数 {name}',
  "error: option '{option}' argument missing": '错误：选项 {option} 缺少参数',
  'error: too many arguments. Expected {count} arguments but got {given}.':
    '错误：参数过多，最多 {count} 个，实际 {given} 个。',
  'error: too many arguments. Expected {count} argument but got {given}.':
    '错误：参数过多，最多 {count} 个，实际 {given} 个。',
  "error: too many arguments for '{name}'. Expected {count} arguments but got {given}.":
    '错误：{name} 的参数过多，最多 {count} 个，实际 {given} 个。',
  "error: too many arguments for '{name}'. Expected {count} argument but got {given}.":
    '错误：{name} 的参数过多，最多 {count} 个，实际 {given} 个。',
  "error: option '{option}' argument '{value}' is invalid. {form}": '错误：选项 {option} 的值“{value}”无效。{form}',
  "error: command-argument value '{value}' is invalid for argument '{name}'. {form}":
    '错误：参数 {name} 的值“{value}”无效。{form}',
  'Allowed choices are {choices}.': '可选值为 {choices}。',
  'error: {complaint}': '错误：{complaint}',
  'It takes a number from 1 to {count}.': '应为 1 到 {count} 的数字。',
  'It takes bash or zsh.': '应为 bash 或 zsh。',
  'It requires a user id.': '需要成员账号。',
  'It takes at most {count} increasing numbers of seconds, up to {max}.':
    '应为最多 {count} 个递增的秒数，不超过 {max}。',
  'It takes a person and a place, such as "JG 3100 private" or "unlinked group ID".':
    '应为人员和地点，例如 "JG 3100 private" 或 "unlinked group ID"。',
  '--as and --sign-in cannot be combined': '--as 和 --sign-in 不能并用',
  '--json and --sign-in cannot be combined': '--json 和 --sign-in 不能并用',
  '--person and --code-ages require --sign-in': '--person 和 --code-ages 需要与 --sign-in 并用',
  // hash-password and feedback
  'Type the password, then press Enter and Ctrl+D.': '请输入密码，然后按 Enter 和 Ctrl+D。',
  "No password was given. Pass it on standard input: printf '%s' 'the password' | npm run -s hash-password":
    "没有收到密码。请通过标准输入传入：printf '%s' '密码' | npm run -s hash-password",
  'Ratings are stored in the Redis of npm start, which is not running: run npm start first':
    '评价保存在 npm start 的 Redis 中，但它没有运行：请先运行 npm start',
  'Redis does not answer: run npm run check to see the cause': 'Redis 没有响应：请运行 npm run check 查看原因',
  'Cannot read {path}: {code}': '无法读取 {path}：{code}',
  // slack-manifest
  '{file} was written. {next}': '已写入 {file}。{next}',
  '{file} cannot be written here, so it is printed above. {next}': '此处无法写入 {file}，内容已输出在上方。{next}',
  'Create the app at https://api.slack.com/apps ("From a manifest"). For an existing app, paste the manifest into its "App Manifest" page and':
    '请在 https://api.slack.com/apps 创建应用（“From a manifest”）。已有应用请将清单粘贴到其“App Manifest”页面',
  'reinstall the app. See docs/guide/SLACK.md for the next steps.': '并重新安装应用。后续步骤见 docs/zh-CN/SLACK.md。',
  'PUBLIC_URL is not set: replace {host} with your address.': 'PUBLIC_URL 未设置：请将 {host} 换成你的地址。',
  'PUBLIC_URL is {url}, but Slack accepts only https addresses: set the address at which Slack and browsers reach Parley (SLACK_CONNECT=socket needs none for Slack)':
    'PUBLIC_URL 为 {url}，但 Slack 只接受 https 地址：请设为 Slack 和浏览器访问 Parley 的地址（SLACK_CONNECT=socket 时 Slack 不需要）',
  'PUBLIC_URL is {url}, but Slack accepts only https addresses: set the address at which browsers reach Parley':
    'PUBLIC_URL 为 {url}，但 Slack 只接受 https 地址：请设为浏览器访问 Parley 的地址',
  // setup
  'Correct the address or the key, or enter the names of the models': '请更正地址或密钥，或填写模型名称',
  'uses OAuth 2.0': '使用 OAuth 2.0',
  'its issuer is {issuer}': '它的 issuer 是 {issuer}',
  'Enter the exact issuer': '请填写 issuer 原值',
  '{path} cannot be edited: write {names} yourself': '无法修改 {path}：请自行写入 {names}',
  'Check the address and that this machine can reach it': '请检查地址，并确认本机可以访问',
  'is an OpenID Connect provider': '是 OpenID Connect 登录服务',
  'Register Parley there with the redirect address {url}': '请在登录服务中登记 Parley，回调地址为 {url}',
  'has no discovery document ({status})': '没有发现文档（{status}）',
  'names another issuer': '给出了另一个 issuer',
  'Enter the exact issuer of the provider': '请输入登录服务的 issuer 原值',
} as const;
