import { readErrorBody } from './error-body.ts';

/** What an engine's error means for the question, whichever engine it is. */
export type EngineErrorKind =
  /** The prompt is longer than the model's context. A shorter prompt may be answered. */
  | 'too-long'
  /** Rate limit, concurrency limit or overload. The same request may be answered later. */
  | 'limited'
  /** The account has no balance or quota left. Only the operator can change that. */
  | 'quota'
  /** The key was refused. Only the operator can change that. */
  | 'unauthorised'
  /** The engine is loading the model. The same request may be answered soon. */
  | 'loading'
  /** The engine's content rules refuse the question or its answer. */
  | 'content-filter'
  | 'unknown-model'
  /** The request has a fault, or a field that the engine does not accept. */
  | 'bad-request'
  | 'timeout'
  /** A fault of the engine. */
  | 'unavailable';

export interface EngineError {
  kind: EngineErrorKind;
  /** The HTTP status, or the status that an error in a success names. */
  status: number;
  /** How long the error's body asks to wait. */
  retryAfterMs?: number;
}

/** One class of errors. `codes` are matched against `key=value` pairs of the body, `words` against its messages. */
interface Rule {
  kind: EngineErrorKind;
  codes?: RegExp;
  words?: RegExp;
  /** HTTP statuses for which the codes and words count. */
  within: readonly number[];
}

/** Statuses of errors that are about one request. 200 stands for an error in the body of a success or in a stream. */
const ABOUT_A_REQUEST = [200, 400, 403, 409, 413, 422, 429, 500, 501, 502, 503];
/** Statuses that say nothing more precise than that something failed. */
const VAGUE = [200, 400, 403, 409, 425, 429, 500, 502, 503, 504, 529];

/** The first rule that matches decides; then the status. Bare numbers are codes of GLM, `status_code` of MiniMax, `error_code` of Baidu. */
const RULES: readonly Rule[] = [
  {
    // The length of the answer is at fault, and a shorter prompt would not help.
    kind: 'bad-request',
    words:
      /max_(?:completion_|new_)?tokens['"` ]+(?:or ['"`]?max_completion_tokens['"`]? )?(?:is|are) too (?:large|high)/i,
    within: [200, 400, 422],
  },
  // A limit of tokens over time does not limit one prompt, unless the prompt alone exceeds it.
  {
    kind: 'limited',
    words: /^(?![^]*\btoo (?:large|long)\b)[^]*?(?:rate limit|\bper (?:min|sec|hour|day))/i,
    within: [429],
  },
  {
    // llama.cpp and others answer 500 or 501 where they were started without images or tools. No repetition helps.
    kind: 'bad-request',
    words:
      /(?:images?|vision|audio|video|multi-?modal|tools?|functions?)[ _](?:\w{1,20} ){0,3}(?:not (?:\w{1,20} )?supported|unsupported)\b|requires --\w|(?:not support|unsupported) (?:\w{1,20} ){0,3}(?:images?|vision|audio|video|multi-?modal|tools?|functions?)\b|not (?:a )?multimodal/i,
    within: [200, 500, 501],
  },
  {
    kind: 'too-long',
    codes:
      /=(?:\w*context_?(?:length|window)\w*|\w*prompt_too_long|\w*tokens_too_long|string_above_max_length|exceed_context_size_error|request_too_large|\w*prompt_tokens_exceeded)$|^code=(?:1261|10907)$|^error_code=(?:336007|336103)$|^status_code=1039$/,
    words:
      /context[ _-]?(?:length|window|size|limit)|contextwindow|max(?:imum)? context\b|range of (?:input|prompt) length|(?:input|prompt|message|tokeni[sz]e)[ _](?:tokens?|length)(?: (?:count|length))?\b(?! per)[^"\n]{0,60}(?:exceed|longer than|too long)|prompt has \d{1,12} tokens|(?:number of (?:\w{1,20} )?|total )tokens\b[^"\n]{0,40}exceed(?![^"\n]{0,60}\b(?:rate|minute|day)\b)|maximum (?:prompt|input|sequence|model) length|max_(?:seq|input|model)_len|session_len|maxInputTokenLen|prompt length [^"\n]{0,80}exceed|(?:input|prompt|request|messages?|conversation)(?: tokens?| length| text)?(?: is| are| was)? too (?:long|large)|input token count|`inputs` (?:must have less than|tokens \+)|(?:exceed\w{0,10}|longer than|greater than|above|over) (?:the )?(?:[\w']+ ){0,3}(?:token limit|max(?:imum)?(?: number of)?(?: input| prompt| message)? tokens)|too many (?:input |prompt )?tokens\b(?! per|, please wait)|tokens? in the prompt cannot exceed|prompt_tokens\b.{0,40}must be less than|reduce (?:the length of (?:the|your) (?:messages|prompt|input)|your message size)|max_tokens['"`]? must be at least 1, got -|(?:输入|提示词?|prompt|内容|文本|上下文|消息|对话|请求)[^。；]{0,16}(?:过长|超长|太长)|超[出过限][^。；]{0,16}(?:上下文|输入|token)[^。；]{0,8}(?:长度|限制|上限|窗口)|(?:长度|token ?数?量?)[^。；]{0,12}超[出过限]/i,
    within: ABOUT_A_REQUEST,
  },
  {
    kind: 'content-filter',
    codes:
      /=(?:content_?filter\w*|content_policy_violation|data_?inspection_?failed|responsibleaipolicyviolation|censorship_blocked|\w*sensitive\w*)$|^code=(?:1301|10013|10014)$|^status_code=(?:1026|1027)$|^error_code=336104$/,
    words:
      /content[ _-]?(?:filter|policy|management policy|moderation)|inappropriate content|blocked due to (?:safety|prohibited)|guardrail|violates (?:our |the )?usage (?:guidelines|policies)|content exists risk|data inspection|\b(?:new_|contains? )sensitive|flagged (?:as|by|for)|敏感|违规|内容安全/i,
    within: ABOUT_A_REQUEST,
  },
  // Gemini says "quota" of a limit per minute too.
  { kind: 'limited', codes: /=resource_exhausted$/, within: VAGUE },
  {
    kind: 'quota',
    codes:
      /=(?:insufficient_\w+|exceeded_current_quota_error|billing_\w+|arrearage|accountoverdue\w*|allocationquota\.freetieronly|accessdenied\.unpurchased|quota_exceeded|[\w.]*resourcepackexhausted)$|^code=(?:402|1113|1304|1308|1309|1310)$|^status_code=(?:1008|2056)$|^error_code=(?:17|19)$/,
    words:
      /insufficient (?:\w+ )?(?:balance|quota|credits?|funds)|balance is (?:too low|insufficient)|exceeded your current quota|check your plan and billing|(?:account|payment)[^.]{0,40}(?:arrears|overdue|good standing)|free tier[^.]{0,40}exhausted|budget has been exceeded|(?:daily|monthly|weekly) (?:\w+ ){0,2}(?:limit|quota)|余额不足|欠费|(?:额度|余量)[^。]{0,8}(?:用完|用尽|不足|耗尽)|套餐[^。]{0,8}(?:到期|过期)/i,
    within: VAGUE,
  },
  {
    kind: 'loading',
    codes: /=(?:model_?loading|model_?not_?ready)$/,
    words:
      /(?<!(?:error|fail\w{0,10}|unable|cannot|could not)[^.]{0,12})loading (?:the )?model|model\b[^.]{0,80}\bis (?:currently |still )?(?:being )?(?:loading|loaded|starting|warming)|(?:still|currently) (?:being )?load(?:ing|ed)|model\b[^.]{0,80}\bnot (?:yet )?ready|warming up|模型[^。]{0,12}加载/i,
    within: VAGUE,
  },
  {
    kind: 'limited',
    codes:
      /=(?:\w*rate_?limit\w*(?:\.\w+)*|too_?many_?requests|\w*overload\w*|throttl[\w.]*|limit_?requests|requestburst\w*|slow_down|server_busy|429|529)$|^code=(?:1302|1303|1305)$|^status_code=(?:1002|1041|2045)$|^error_code=(?:4|18|336100|336501|336502)$/,
    words:
      /rate[ _-]?limit|too many (?:concurrent |parallel )?(?:requests|connections)|overload|throttl|\b(?:too|is|are|currently) busy\b|server busy|at (?:full )?capacity|overflowerror|too many tokens, please wait|no (?:free )?slots? available|(?:capacity|concurrency|concurrent requests?|qps|rpm|tpm) limit|(?:requests|tokens) per (?:min|sec|day)|queue is full|high (?:demand|traffic|load)|请求[^。]{0,6}(?:过多|频繁|太多)|限流|并发[^。]{0,8}(?:过高|超|限制)|频率[^。]{0,8}(?:过高|超|限制)|(?:系统|服务|模型|负载)[^。]{0,8}(?:繁忙|过高|过载)/i,
    within: VAGUE,
  },
  {
    kind: 'unauthorised',
    codes:
      /=(?:invalid_?api_?key|invalid_iam_token|authentication_error|unauthorized|401)$|^code=100[0-4]$|^status_code=(?:1004|2049)$|^error_code=(?:100|110|111|336003)$/,
    words:
      /(?:invalid|incorrect|missing|expired|malformed)[^.]{0,24}(?:api[ _-]?key|access token|credentials)|api key not valid/i,
    within: [200, 400, 500],
  },
  {
    kind: 'unknown-model',
    codes: /=(?:model_?not_?found|unknown_model|404)$|^code=1211$/,
    words: /\bmodel (?:[^\s"]{1,100} )?(?:does )?not (?:exist|found)\b|not a valid model\b|no models? loaded/i,
    within: [200, 400, 500],
  },
  { kind: 'timeout', codes: /^status_code=1001$/, within: [200] },
];

const STATUS_KINDS: Readonly<Record<number, EngineErrorKind>> = {
  401: 'unauthorised',
  402: 'quota',
  403: 'unauthorised',
  404: 'unknown-model',
  408: 'timeout',
  409: 'unavailable',
  413: 'too-long',
  425: 'unavailable',
  429: 'limited',
  451: 'content-filter',
  529: 'limited',
};

/**
 * Classifies an engine's error: by the codes and messages in its body, otherwise by its status.
 * @param status the HTTP status; 200 for an error in the body of a success or in a stream
 * @param body the error's body as text or as a parsed value, untrusted; it is read and not kept
 */
export function classifyEngineError(status: number, body: unknown): EngineError {
  const { codes, words, retryAfterMs } = readErrorBody(body);
  const said = RULES.find(
    (rule) =>
      rule.within.includes(status) &&
      (codes.some((code) => rule.codes?.test(code) === true) || rule.words?.test(words) === true),
  );
  const named = status === 200 ? (statusIn(codes) ?? statusOf(said?.kind)) : status;
  return { kind: said?.kind ?? kindOfStatus(named), status: named, retryAfterMs };
}

/** The status that an error in a 200 response states. */
function statusIn(codes: readonly string[]): number | undefined {
  const named = codes.map((code) => Number(/=([45]\d\d)$/.exec(code)?.[1])).find((status) => status > 0);
  return named;
}

function statusOf(kind: EngineErrorKind | undefined): number {
  const [status] = Object.entries(STATUS_KINDS).find(([, known]) => known === kind) ?? [];
  if (kind === 'limited') return 429;
  return Number(status ?? (kind === 'bad-request' || kind === 'content-filter' ? 400 : 500));
}

function kindOfStatus(status: number): EngineErrorKind {
  return STATUS_KINDS[status] ?? (status >= 400 && status < 500 ? 'bad-request' : 'unavailable');
}
