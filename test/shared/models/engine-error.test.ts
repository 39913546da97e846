import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { classifyEngineError, type EngineErrorKind } from '../../../src/shared/models/engine-error.ts';
import { measureProcessorTime } from '../../support/processor-time.ts';

type Row = [engine: string, status: number, body: unknown];

const openAi = (message: string, rest: object = {}) => ({
  error: { message, type: 'invalid_request_error', param: null, code: null, ...rest },
});
const vllm = (message: string, code = 400) => ({
  object: 'error',
  message,
  type: 'BadRequestError',
  param: null,
  code,
});

const ROWS: Record<EngineErrorKind, Row[]> = {
  'too-long': [
    ['OpenAI', 400, openAi('m', { code: 'context_length_exceeded' })],
    [
      'OpenAI, more than a minute takes',
      429,
      openAi(
        'Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Requested 50000. The input or output tokens must be reduced in order to run successfully.',
        { type: 'tokens', code: 'rate_limit_exceeded' },
      ),
    ],
    [
      'vLLM',
      400,
      vllm(
        "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4500 in the messages, 500 in the completion). Please reduce the length of the messages or completion.",
      ),
    ],
    [
      'vLLM, newer',
      400,
      {
        error: vllm(
          "This model's maximum context length is 32768 tokens. However, your request has 40000 input tokens. Please reduce the length of the input messages. (parameter=input_tokens, value=40000)",
        ),
      },
    ],
    [
      'TensorRT-LLM',
      400,
      { message: 'The sum of prompt length (9000.0), query length (0) should not exceed max_num_tokens (8192)' },
    ],
    ['LMDeploy', 400, vllm('The request sent triggered an error: input tokens exceed session_len')],
    [
      'MindIE',
      400,
      {
        error: 'Prompt encode token size is 9000, which exceeds maxInputTokenLen',
        error_type: 'Input Validation Error',
      },
    ],
    ['vLLM, older', 400, vllm('max_tokens must be at least 1, got -913.')],
    [
      'DeepSeek',
      400,
      openAi(
        "This model's maximum context length is 131072 tokens. However, you requested 150000 tokens (150000 in the messages, 0 in the completion).",
        { code: 'invalid_request_error' },
      ),
    ],
    [
      'llama.cpp',
      400,
      {
        error: {
          code: 400,
          message: 'request (5013 tokens) exceeds the available context size (4096 tokens), try increasing it',
          type: 'exceed_context_size_error',
          n_prompt_tokens: 5013,
          n_ctx: 4096,
        },
      },
    ],
    [
      'llama.cpp, older',
      500,
      { error: { code: 500, message: 'the request exceeds the available context size', type: 'server_error' } },
    ],
    ['llama-cpp-python', 500, { detail: 'Requested tokens (5000) exceed context window of 2048' }],
    ['GLM', 400, { error: { code: '1261', message: 'Prompt 超长' } }],
    ['GLM with a number', 400, { error: { code: 1261, message: 'x' } }],
    [
      'DashScope',
      400,
      { code: 'InvalidParameter', message: 'Range of input length should be [1, 30720]', request_id: 'r' },
    ],
    [
      'DashScope, compatible',
      400,
      openAi('<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]'),
    ],
    ['Ollama', 400, { error: 'the input length exceeds the context length' }],
    ['Ollama, older', 500, { error: 'prompt too long; exceeded max context length by 12 tokens' }],
    [
      'TGI',
      422,
      {
        error: 'Input validation error: `inputs` must have less than 1024 tokens. Given: 1205',
        error_type: 'validation',
      },
    ],
    [
      'TGI with an answer length',
      422,
      {
        error: 'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 2048. Given: 2000',
        error_type: 'validation',
      },
    ],
    [
      'LiteLLM',
      400,
      {
        error: {
          message: 'litellm.ContextWindowExceededError: litellm.BadRequestError: OpenAIException - x',
          code: '400',
        },
      },
    ],
    [
      'Anthropic',
      400,
      {
        type: 'error',
        error: { type: 'invalid_request_error', message: 'prompt is too long: 210000 tokens > 200000 maximum' },
      },
    ],
    [
      'Anthropic by bytes',
      413,
      { type: 'error', error: { type: 'request_too_large', message: 'Request exceeds the maximum size' } },
    ],
    [
      'Gemini',
      400,
      [
        {
          error: {
            code: 400,
            message: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
            status: 'INVALID_ARGUMENT',
          },
        },
      ],
    ],
    [
      'Mistral',
      400,
      {
        object: 'error',
        message:
          'Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
        type: 'invalid_request_prompt',
        code: '3051',
      },
    ],
    [
      'Groq',
      400,
      openAi('Please reduce the length of the messages or completion.', { code: 'context_length_exceeded' }),
    ],
    [
      'Groq by the minute',
      413,
      openAi(
        'Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 8000, please reduce your message size and try again.',
        {
          code: 'rate_limit_exceeded',
        },
      ),
    ],
    ['Moonshot', 400, openAi('Invalid request: Your request exceeded model token limit: 8192')],
    [
      'xAI',
      400,
      {
        code: 'Client specified an invalid argument',
        error: "This model's maximum prompt length is 131072 but the request contains 200000 tokens.",
      },
    ],
    ['Qianfan', 200, { error_code: 336007, error_msg: 'the max input characters is 11200' }],
    ['Qianfan by tokens', 200, { error_code: '336103', error_msg: 'prompt tokens too long' }],
    ['MiniMax', 200, { choices: null, base_resp: { status_code: 1039, status_msg: 'token limit' } }],
    [
      'MiniMax by words',
      200,
      { base_resp: { status_code: 2013, status_msg: 'invalid params, context window exceeds limit' } },
    ],
    ['Bedrock', 400, { message: 'Input is too long for requested model.' }],
    ['Cohere', 400, { message: 'too many tokens: total number of tokens in the prompt cannot exceed 4081' }],
    ['SGLang', 400, vllm("The input (5000 tokens) is longer than the model's context length (4096 tokens).")],
    [
      'SiliconFlow',
      400,
      { code: 20015, message: 'length of prompt_tokens (40000) must be less than max_seq_len (32768).', data: null },
    ],
    [
      'LM Studio',
      400,
      {
        error:
          'Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens',
      },
    ],
    [
      'a gateway that nests JSON',
      502,
      {
        error: {
          message: 'Provider returned error',
          metadata: { raw: '{"error":{"code":"context_length_exceeded"}}' },
        },
      },
    ],
    ['FastAPI', 422, { detail: [{ loc: ['body'], msg: 'Prompt is too long', type: 'value_error' }] }],
    ['a list of errors', 400, { errors: [{ message: '输入内容过长，请缩短后重试' }] }],
    ['koboldcpp', 400, { error: 'Prompt exceeds maximum context' }],
    ['MLX', 500, { detail: 'Prompt has 9000 tokens, more than the 8192 the model supports' }],
    ['Xinference', 400, { detail: '[address=0.0.0.0] Prompt tokens 9000 exceed limit 8192' }],
    ['Spark', 200, { code: 10907, message: 'the tokens count of the input over the limit' }],
    ['Hunyuan', 400, openAi('tokenize length exceeds limit: 32768', { code: 'InvalidParameter' })],
    ['Baichuan', 400, openAi('the total tokens of messages exceed the limit 32k')],
    ['StepFun', 400, openAi("The number of tokens in your request exceeds the model's limit of 8192")],
    ['Databricks', 400, { error_code: 'BAD_REQUEST', message: 'prompt_tokens (9000) + max_tokens (100) exceeds 8192' }],
    ['watsonx', 400, { errors: [{ code: 'x', message: 'the number of input tokens 9000 cannot exceed the total' }] }],
    ['OpenVINO', 500, { error: 'Number of prompt tokens: 9000 exceeds model max length: 8192' }],
    ['Copilot', 400, openAi('x', { code: 'model_max_prompt_tokens_exceeded' })],
    ['MindIE, newer', 400, { error: 'Input length is longer than max input token length' }],
    ['Volcano', 400, openAi('Input length 300000 exceeds the maximum length 229376.', { code: 'InvalidParameter' })],
    ['ModelScope', 400, openAi('Range of prompt length should be [1, 8192]')],
    ['no JSON', 400, 'ValueError: Input length (5000) exceeds maximum sequence length (4096)'],
  ],
  limited: [
    ['Bedrock', 429, { message: 'Too many tokens, please wait before trying again.' }],
    ['llama.cpp', 503, openAi('no slot available')],
    ['Spark', 200, { code: 11202, message: 'AppIdQpsOverFlowError:(authorizing count overflow)' }],
    ['a bare 429', 429, ''],
    ['Anthropic by tokens', 429, openAi('Number of request tokens has exceeded your per-minute rate limit')],
    ['tokens per minute', 429, openAi('The number of tokens per minute has exceeded the limit')],
    ['tokens per day', 429, openAi('Total tokens per day exceeded')],
    ['input tokens', 429, openAi('Rate limit reached for input tokens; you exceeded 30000 per minute')],
    ['a page', 429, '<html>Too Many Requests</html>'],
    ['OpenAI', 429, openAi('Rate limit reached', { type: 'requests', code: 'rate_limit_exceeded' })],
    [
      'OpenAI overloaded',
      503,
      openAi('The engine is currently overloaded, please try again later', { type: 'server_error' }),
    ],
    ['Anthropic', 529, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }],
    ['Anthropic in a stream', 200, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }],
    ['MiniMax', 200, { choices: null, base_resp: { status_code: 1002, status_msg: 'rate limit' } }],
    ['MiniMax without words', 200, { choices: null, base_resp: { status_code: 1002 } }],
    ['GLM concurrency', 429, { error: { code: '1302', message: '您当前使用该API的并发数过高' } }],
    ['GLM overload', 200, { error: { code: 1305, message: 'x' } }],
    [
      'DashScope',
      429,
      { code: 'Throttling.RateQuota', message: 'Requests rate limit exceeded, please try again later.' },
    ],
    ['DashScope as 400', 400, { code: 'Throttling', message: 'Requests throttling triggered.' }],
    ['Moonshot', 429, { error: { type: 'engine_overloaded_error', message: 'The engine is currently overloaded' } }],
    [
      'Gemini',
      429,
      [
        {
          error: {
            code: 429,
            status: 'RESOURCE_EXHAUSTED',
            message: 'You exceeded your current quota, please check your plan and billing details',
          },
        },
      ],
    ],
    ['Qianfan', 200, { error_code: 18, error_msg: 'Open api qps request limit reached' }],
    ['TGI', 429, { error: 'Model is overloaded', error_type: 'overloaded' }],
    ['Ollama', 503, { error: 'server busy, please try again.  maximum pending requests exceeded' }],
    ['DeepSeek', 503, { error: { message: 'Server overloaded', type: 'x' } }],
    ['Volcano', 429, { error: { code: 'ServerOverloaded', message: 'x' } }],
    ['Hugging Face', 503, { error: 'Model too busy, unable to get response in less than 60 second(s)' }],
    ['words in Chinese', 503, { message: '系统繁忙，请稍后再试' }],
    ['a status in a success', 200, { error: { code: 429 } }],
    ['plain words', 503, 'upstream request queue is full'],
  ],
  quota: [
    ['LiteLLM', 400, openAi('Budget has been exceeded! Current cost: 1, Max budget: 1', { type: 'budget_exceeded' })],
    [
      'OpenAI',
      429,
      openAi('You exceeded your current quota, please check your plan and billing details.', {
        code: 'insufficient_quota',
      }),
    ],
    [
      'DeepSeek',
      402,
      { error: { message: 'Insufficient Balance', type: 'unknown_error', code: 'invalid_request_error' } },
    ],
    [
      'Anthropic',
      400,
      { error: { type: 'invalid_request_error', message: 'Your credit balance is too low to access the API' } },
    ],
    ['GLM', 429, { error: { code: '1113', message: '您的账户已欠费，请充值后重试' } }],
    [
      'DashScope',
      400,
      { code: 'Arrearage', message: 'Access denied, please make sure your account is in good standing.' },
    ],
    ['Moonshot', 429, { error: { type: 'exceeded_current_quota_error', message: 'x' } }],
    [
      'Hunyuan',
      200,
      { Response: { Error: { Code: 'FailedOperation.ResourcePackExhausted', Message: '资源包余量已用尽' } } },
    ],
    ['MiniMax', 200, { base_resp: { status_code: 1008, status_msg: 'insufficient balance' } }],
    ['SiliconFlow', 403, { code: 30001, message: 'Sorry, your account balance is insufficient' }],
  ],
  loading: [
    ['llama.cpp', 503, { error: { code: 503, message: 'Loading model', type: 'unavailable_error' } }],
    ['Hugging Face', 503, { error: 'Model bigscience/bloom is currently loading', estimated_time: 20.5 }],
    ['Ollama', 500, { error: 'llm server loading model' }],
    ['a gateway', 503, { detail: 'The model is loading, please retry' }],
    ['words in Chinese', 503, { message: '模型正在加载中' }],
    ['KServe', 503, { error: 'Model qwen is not ready' }],
  ],
  'content-filter': [
    [
      'Azure',
      400,
      openAi("The response was filtered due to Azure OpenAI's content management policy.", { code: 'content_filter' }),
    ],
    ['DashScope', 400, { code: 'DataInspectionFailed', message: 'Input data may contain inappropriate content.' }],
    ['DashScope, compatible', 400, openAi('x', { code: 'data_inspection_failed' })],
    ['GLM', 400, { error: { code: '1301', message: '系统检测到输入或生成内容可能包含不安全或敏感内容' } }],
    ['MiniMax', 200, { base_resp: { status_code: 1026, status_msg: 'input new_sensitive' } }],
    ['DeepSeek', 400, { error: { message: 'Content Exists Risk', type: 'invalid_request_error' } }],
    ['StepFun', 451, { error: { message: 'The content is blocked.', type: 'censorship_blocked' } }],
    ['Gemini', 400, openAi('The prompt was blocked due to SAFETY')],
    ['xAI', 403, { code: 'x', error: 'Content violates usage guidelines.' }],
    ['LiteLLM', 400, openAi('Violated guardrail policy')],
    ['Spark', 200, { code: 10013, message: 'input content audit failed' }],
  ],
  unauthorised: [
    ['Gemini', 400, [{ error: { code: 400, message: 'API key not valid. Please pass a valid API key.' } }]],
    ['OpenAI', 401, openAi('Incorrect API key provided', { code: 'invalid_api_key' })],
    ['a bare 403', 403, ''],
    ['MiniMax', 200, { base_resp: { status_code: 1004, status_msg: 'login fail' } }],
    ['Gemini', 400, { error: { code: 400, status: 'INVALID_ARGUMENT', message: 'Invalid API key' } }],
  ],
  'unknown-model': [
    ['OpenAI', 404, openAi('The model `x` does not exist', { code: 'model_not_found' })],
    ['GLM', 400, { error: { code: '1211', message: '模型不存在' } }],
    ['DeepSeek', 400, openAi('Model Not Exist')],
    ['SiliconFlow', 400, { code: 20012, message: 'Model does not exist. Please check it carefully.' }],
    ['OpenRouter', 400, openAi('x/y is not a valid model ID')],
    ['LM Studio', 400, openAi('No models loaded. Please load a model')],
  ],
  'bad-request': [
    ['llama.cpp without images', 500, { error: { code: 500, message: 'image input is not supported - hint: mmproj' } }],
    ['llama.cpp without tools', 500, { error: { code: 500, message: 'tools param requires --jinja flag' } }],
    ['an engine without functions', 501, { error: 'This server does not support functions' }],
    ['a bare 400', 400, ''],
    ['OpenAI', 400, openAi("Invalid value for 'messages[0].role'")],
    [
      'an answer length',
      400,
      vllm(
        "'max_tokens' or 'max_completion_tokens' is too large: 9000. This model's maximum context length is 4096 tokens and your request has 12 input tokens",
      ),
    ],
    ['a range of another field', 400, { code: 'InvalidParameter', message: 'Range of max_tokens should be [1, 8192]' }],
    [
      'a request that is repeated',
      422,
      { detail: [{ msg: 'Input should be a valid string', input: 'What is the maximum context length? rate limit' }] },
    ],
  ],
  timeout: [['a bare 408', 408, '']],
  unavailable: [
    ['a bare 503', 503, ''],
    ['a page', 502, '<html>Bad Gateway</html>'],
    ['vLLM in a stream', 200, { object: 'error', message: 'x', type: 'InternalServerError', code: 500 }],
    ['Ollama without memory', 500, { error: 'vision model requires more system memory (9 GiB) than is available' }],
    ['a tool that failed', 500, { error: 'The tool parser failed unexpectedly' }],
    ['Ollama that cannot load', 500, { error: 'error loading model: unable to allocate' }],
    ['MiniMax', 200, { base_resp: { status_code: 1013, status_msg: 'internal' } }],
  ],
};

const written = ([engine, status, body]: Row): Row[] => [
  [engine, status, body],
  [`${engine}, as text`, status, typeof body === 'string' ? body : JSON.stringify(body)],
];

describe.each(Object.keys(ROWS) as EngineErrorKind[])('%s', (kind) => {
  test.each(ROWS[kind].flatMap(written))(`${kind}: %s (%i) [engine-errors]`, (_engine, status, body) => {
    expect(classifyEngineError(status, body).kind).toBe(kind);
  });
});

test('an error in a success response gets the status of its text and codes', () => {
  expect(classifyEngineError(200, { base_resp: { status_code: 1002 } }).status).toBe(429);
  expect(classifyEngineError(200, { error: { code: '503', message: 'x' } })).toMatchObject({
    kind: 'unavailable',
    status: 503,
  });
  expect(classifyEngineError(200, { error: { code: 'context_length_exceeded' } }).status).toBe(413);
  expect(classifyEngineError(200, { error: {} }).status).toBe(500);
});

test.each([
  ['Please try again in 1.5s.', 1_500],
  ['Please try again in 20ms.', 20],
  ['Please try again in 6m10s.', 370_000],
  ['Please retry after 20 seconds.', 20_000],
  [{ error: { details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34s' }] } }, 34_000],
  [{ error: 'x', estimated_time: 20.5 }, 20_500],
  ['Please retry after 2 minutes.', 120_000],
  ['Please wait and try again in 5 seconds.', 5_000],
  ['Please wait 7 seconds.', 7_000],
  ['failed after retry 3 times, please try again in 20s', 20_000],
  ['The server did not wait 30 s for the upstream', undefined],
  ['Please try again later.', undefined],
])('the waiting time is read in %j', (body, retryAfterMs) => {
  expect(classifyEngineError(429, body).retryAfterMs).toBe(retryAfterMs);
});

test('any body has a meaning, at least by its status', () => {
  fc.assert(
    fc.property(fc.integer({ min: 200, max: 599 }), fc.oneof(fc.jsonValue(), fc.string()), (status, body) => {
      expect(Object.keys(ROWS)).toContain(classifyEngineError(status, body).kind);
    }),
  );
});

test.each([
  ['deep', '['.repeat(60_000)],
  ['nearly matching text', 'exceed the a '.repeat(5_000)],
  ['blanks', `model ${' '.repeat(60_000)}`],
  ['Chinese', '输入'.repeat(30_000)],
])('a hostile body costs little time: %s', (_name, body) => {
  const spentMs = measureProcessorTime();
  classifyEngineError(400, body);
  expect(spentMs()).toBeLessThan(500);
});
