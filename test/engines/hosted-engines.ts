import { openAiError, thinksByEffort, type EngineShape } from './engine-shape.ts';

const MISSING_THOUGHT =
  'thinking is enabled but reasoning_content is missing in assistant tool call message at index 2';
const SAFE = { hate: { filtered: false, severity: 'safe' }, violence: { filtered: false, severity: 'safe' } };

/** Engines that are run by their makers. */
export const HOSTED_ENGINES: readonly EngineShape[] = [
  {
    engine: 'OpenAI, models that do not reason',
    sources: [
      'https://mixaill76.github.io/auto_ai_router/refs/openai_chat_completions/',
      'https://github.com/BerriAI/litellm/issues/10791',
      'https://github.com/pydantic/pydantic-ai/issues/797',
    ],
    model: 'gpt-4o',
    entry: { images: true },
    inChunk: { system_fingerprint: 'fp_1' },
    refusal: {
      status: 400,
      body: openAiError('Unrecognized request argument supplied: thinking'),
      refuses: ({ thinking }) => thinking !== undefined,
      guessed: { thinking: 'thinking' },
    },
    error: {
      status: 400,
      body: openAiError(
        "Unsupported value: 'minimal' is not supported with the 'gpt-5.1' model. Supported values are: 'none', 'low', 'medium', and 'high'.",
        { param: '***.effort', code: 'unsupported_value' },
      ),
    },
  },
  {
    engine: 'OpenAI, models that reason',
    sources: [
      'https://github.com/microsoft/vscode-copilot-release/issues/9954',
      'https://learn.microsoft.com/en-us/javascript/api/@azure/ai-projects/reasoningeffort',
      'https://github.com/anomalyco/opencode/issues/4451',
    ],
    model: 'gpt-5.1',
    entry: { images: true, thinking: 'reasoning_effort', levels: ['none', 'low', 'medium', 'high'] },
    refusal: {
      status: 400,
      body: openAiError(
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        { param: 'max_tokens', code: 'unsupported_parameter' },
      ),
      refuses: ({ max_tokens: tokens }) => tokens !== undefined,
      guessed: { images: true, answerTokens: 500 },
    },
    error: {
      status: 400,
      body: openAiError("Unsupported value: 'minimal' is not supported with the 'gpt-5.1' model.", {
        param: '***.effort',
        code: 'unsupported_value',
      }),
    },
  },
  {
    engine: 'Azure OpenAI',
    sources: [
      'https://github.com/AbanteAI/archive-old-cli-mentat/issues/429',
      'https://github.com/microsoft/autogen/issues/6465',
      'https://www.developersdigest.tech/errors/api/azure-openai',
      'https://github.com/anomalyco/opencode/issues/37964',
    ],
    model: 'gpt-4.1',
    entry: { images: true },
    opening: [
      `data: ${JSON.stringify({ choices: [], created: 0, id: '', model: '', object: '', prompt_filter_results: [{ prompt_index: 0, content_filter_results: SAFE }] })}\n\n`,
      // With asynchronous filters there are choices without a delta.
      `data: ${JSON.stringify({ id: '', object: '', created: 0, model: '', choices: [{ index: 0, finish_reason: null, content_filter_results: SAFE, content_filter_offsets: { check_offset: 44 } }], usage: null })}\n\n`,
    ],
    inChoice: { content_filter_results: SAFE },
    refusal: {
      status: 400,
      body: openAiError(
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        { param: 'max_tokens', code: 'unsupported_parameter' },
      ),
      refuses: ({ max_tokens: tokens }) => tokens !== undefined,
      guessed: { answerTokens: 500 },
    },
    error: {
      status: 400,
      body: {
        error: {
          ...{ message: 'The response was filtered', type: null, param: 'prompt', code: 'content_filter', status: 400 },
        },
      },
    },
  },
  {
    engine: 'DeepSeek',
    sources: [
      'https://api-docs.deepseek.com/guides/thinking_mode.md',
      'https://api-docs.deepseek.com/quick_start/rate_limit',
      'https://github.com/anomalyco/opencode/issues/9397',
      'https://chat-deep.ai/guide/create-chat-completion/',
    ],
    model: 'deepseek-chat',
    entry: { thinking: 'thinking', levels: ['low', 'high', 'max'] },
    thinksAbout: ({ thinking }) => thinking?.type !== 'disabled',
    thoughtIn: 'reasoning_content',
    wantsThought: true,
    opening: [': keep-alive\n\n', ': keep-alive\n\n'],
    givesUp: { reason: 'insufficient_system_resource' },
    refusal: {
      status: 400,
      body: openAiError('Missing `reasoning_content` field in the assistant message at message index 2.', {
        code: 'invalid_request_error',
      }),
      refuses: (request) => lacksThought(request) && request.thinking?.type !== 'disabled',
      by: 'tool',
    },
    error: { status: 400, body: openAiError('Missing `reasoning_content` field in the assistant message.') },
  },
  {
    engine: 'Alibaba Model Studio (DashScope), Qwen',
    sources: [
      'https://help.aliyun.com/en/model-studio/deep-thinking',
      'https://help.aliyun.com/zh/model-studio/error-code',
      'https://github.com/Mintplex-Labs/anything-llm/issues/3933',
    ],
    model: 'qwen-plus',
    entry: { thinking: 'enable_thinking' },
    thinksAbout: ({ enable_thinking: isOn }) => isOn === true,
    thoughtIn: 'reasoning_content',
    inChunk: { usage: null },
    refusal: {
      status: 400,
      body: openAiError('parameter.enable_thinking must be set to false for non-streaming calls', {
        code: 'invalid_parameter_error',
      }),
      refuses: ({ stream, enable_thinking: isOn }) => !stream && isOn === true,
      onlyWhole: true,
    },
    error: {
      status: 400,
      passedOn: 503,
      body: openAiError('Access denied, please make sure your account is in good standing.', {
        ...{ code: 'Arrearage', type: 'Arrearage' },
      }),
    },
  },
  {
    engine: 'Zhipu, GLM',
    sources: [
      'https://docs.bigmodel.cn/cn/api/api-code',
      'https://docs.infini-ai.com/gen-studio/api/text-generation/tutorial-reasoning/glm.html',
      'https://github.com/fuzhengwei/chatglm-sdk-java/issues/8',
    ],
    model: 'glm-4.5v',
    entry: { images: true, thinking: 'thinking' },
    thinksAbout: ({ thinking }) => thinking?.type === 'enabled',
    thoughtIn: 'reasoning_content',
    usage: 'with the last chunk',
    givesUp: { reason: 'network_error' },
    refusal: {
      status: 400,
      body: { error: { code: '1210', message: 'API 调用参数有误，请检查文档。' } },
      refuses: ({ chat_template_kwargs: kwargs }) => kwargs !== undefined,
      guessed: { thinking: 'chat_template_kwargs' },
    },
    error: {
      status: 400,
      body: { error: { code: '1301', message: '系统检测到输入或生成内容可能包含不安全或敏感内容' } },
    },
  },
  {
    engine: 'Zhipu, GLM-Z1',
    sources: [
      'https://docs.bigmodel.cn/api-reference/%E6%A8%A1%E5%9E%8B-api/%E6%9F%A5%E8%AF%A2%E5%BC%82%E6%AD%A5%E7%BB%93%E6%9E%9C',
    ],
    model: 'glm-z1-flash',
    entry: { tools: false },
    thinksAbout: () => true,
    thoughtIn: 'tags',
    usage: 'with the last chunk',
    error: { status: 400, passedOn: 413, body: { error: { code: '1261', message: 'Prompt 超长' } } },
  },
  {
    engine: 'Moonshot, Kimi',
    sources: [
      'https://platform.moonshot.cn/docs/guide/use-kimi-k2-thinking-model',
      'https://github.com/higress-group/higress/pull/1568',
      'https://github.com/labring/FastGPT/issues/6357',
      'https://github.com/Bike4Mind/bike4mind/pull/1089',
    ],
    model: 'kimi-k2.5',
    entry: { images: true, thinking: 'thinking' },
    thinksAbout: ({ thinking }) => thinking?.type !== 'disabled',
    thoughtIn: 'reasoning_content',
    wantsThought: true,
    usage: 'in the choice',
    refusal: {
      status: 400,
      body: { error: { message: MISSING_THOUGHT, type: 'invalid_request_error' } },
      refuses: (request) => lacksThought(request) && request.thinking?.type !== 'disabled',
      by: 'tool',
    },
    error: {
      status: 400,
      body: {
        error: { message: 'invalid temperature: only 1 is allowed for this model', type: 'invalid_request_error' },
      },
    },
  },
  {
    engine: 'Mistral',
    sources: [
      'https://docs.mistral.ai/capabilities/reasoning/',
      'https://github.com/agentjido/req_llm/issues/742',
      'https://github.com/editor-code-assistant/eca/issues/231',
      'https://github.com/Gage-Technologies/mistral-go/pull/2',
    ],
    model: 'mistral-small-latest',
    entry: { images: true, thinking: 'reasoning_effort', levels: ['none', 'high'] },
    thinksAbout: thinksByEffort,
    thoughtIn: 'parts',
    usage: 'with the last chunk',
    callsInOnePiece: true,
    refusal: {
      status: 422,
      body: {
        object: 'error',
        message: {
          detail: [{ type: 'extra_forbidden', loc: ['body', 'thinking'], msg: 'Extra inputs are not permitted' }],
        },
        ...{ type: 'invalid_request_error', param: null, code: null },
      },
      refuses: ({ thinking }) => thinking !== undefined,
      guessed: { thinking: 'thinking' },
    },
    error: {
      status: 422,
      body: {
        object: 'error',
        message: {
          detail: [
            {
              type: 'extra_forbidden',
              loc: ['body', 'messages', 0, 'user', 'name'],
              msg: 'Extra inputs are not permitted',
            },
          ],
        },
        ...{ type: 'invalid_request_error', param: null, code: null },
      },
    },
  },
  {
    engine: 'Volcengine Ark, Doubao',
    sources: [
      'https://docs.byteplus.com/zh-TW/docs/Byteplus_LAS/Chat_API',
      'https://www.ucloud-global.com/en/docs/modelverse/modelverse/text_api/doubao',
      'https://github.com/CherryHQ/cherry-studio/issues/7593',
      'https://github.com/langgenius/dify-official-plugins/issues/1187',
    ],
    model: 'doubao-seed-1-6-250615',
    entry: { images: true, thinking: 'thinking' },
    thinksAbout: ({ thinking }) => thinking?.type === 'enabled',
    thoughtIn: 'reasoning_content',
    inChunk: { usage: null, service_tier: 'default' },
    refusal: {
      status: 400,
      body: openAiError('Unsupported thinking type for the current model: enabled Request id: 0', {
        ...{ code: 'InvalidParameter', param: '', type: 'BadRequest' },
      }),
      refuses: ({ model, thinking }) => model === 'doubao-lite' && thinking !== undefined,
      guessed: { upstream: 'doubao-lite', thinking: 'thinking' },
    },
    error: {
      status: 400,
      body: openAiError('The request failed', { code: 'InvalidParameter', param: '', type: 'BadRequest' }),
    },
  },
  {
    engine: 'OpenRouter',
    sources: [
      'https://openrouter.ai/docs/api-reference/streaming',
      'https://openrouter.ai/docs/api-reference/errors',
      'https://github.com/patrickcarmichael/claude-docs/blob/main/docs/ai-platforms/openrouter/formatted/178-streaming-error-formats.md',
      'https://github.com/enricoros/big-AGI/issues/940',
      'https://github.com/symfony/ai/issues/909',
    ],
    model: 'deepseek/deepseek-r1',
    entry: { thinking: 'reasoning_effort', levels: ['none', 'low', 'medium', 'high'] },
    thinksAbout: thinksByEffort,
    thoughtIn: 'reasoning',
    opening: [': OPENROUTER PROCESSING\n\n', ': OPENROUTER PROCESSING\n\n'],
    inChoice: { native_finish_reason: null, logprobs: null },
    inChunk: { provider: 'Azure' },
    usage: 'with the last chunk',
    givesUp: {
      event: `data: ${JSON.stringify({ id: 'gen-1', object: 'chat.completion.chunk', created: 1, model: 'm', provider: 'p', error: { code: 'server_error', message: 'Provider disconnected' }, choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error' }] })}\n\n`,
    },
    error: { status: 402, body: { error: { code: 402, message: 'Insufficient credits', metadata: {} } } },
  },
];

/** Whether the newest tool call comes without the thought before it. */
function lacksThought({ messages }: Parameters<NonNullable<EngineShape['thinksAbout']>>[0]): boolean {
  return messages.some(({ tool_calls: calls, reasoning_content: thought }) => calls && thought === undefined);
}
