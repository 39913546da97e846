import { openAiError, thinksByEffort, thinksByTemplate, type EngineShape } from './engine-shape.ts';

/** The older error format of vLLM and SGLang, before they used OpenAI's. */
const objectError = (message: string) => ({
  object: 'error',
  message,
  type: 'BadRequestError',
  param: null,
  code: 400,
});

/** Engines that an institution runs itself, and gateways. */
export const OWN_ENGINES: readonly EngineShape[] = [
  {
    engine: 'vLLM',
    sources: [
      'https://docs.vllm.ai/en/v0.11.2/features/reasoning_outputs/',
      'https://qwen.readthedocs.io/en/latest/deployment/vllm.html',
      'https://github.com/langchain4j/langchain4j/issues/3475',
      'https://github.com/vllm-project/vllm/issues/14359',
      'https://github.com/OpenSecretCloud/opensecret/issues/124',
    ],
    model: 'Qwen/Qwen3-8B',
    entry: { thinking: 'chat_template_kwargs' },
    thinksAbout: thinksByTemplate,
    thoughtIn: 'reasoning',
    inChoice: { logprobs: null, stop_reason: null },
    inChunk: { usage: null },
    refusal: {
      status: 400,
      body: objectError('"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
      refuses: ({ model, tools }) => model === 'unsloth/Phi-4-mini-instruct' && tools !== undefined,
      guessed: { upstream: 'unsloth/Phi-4-mini-instruct' },
      by: 'tool',
    },
    error: {
      status: 400,
      body: openAiError('/models/m is not a multimodal model None', { type: 'BadRequestError', code: 400 }),
    },
  },
  {
    engine: 'vLLM, a Llama',
    sources: [
      'https://docs.vllm.ai/en/v0.11.2/features/reasoning_outputs/',
      'https://github.com/huggingface/chat-ui/issues/1343',
      'https://github.com/OpenSecretCloud/opensecret/issues/124',
    ],
    model: 'llama-3.3-70b-instruct',
    entry: {},
    inChoice: { logprobs: null, stop_reason: null },
    inChunk: { usage: null },
    error: {
      status: 400,
      body: openAiError('/mnt/weights is not a multimodal model None', { type: 'BadRequestError', code: 400 }),
    },
  },
  {
    engine: 'SGLang',
    sources: [
      'https://docs.sglang.io/docs/advanced_features/separate_reasoning',
      'https://github.com/sgl-project/sglang/issues/4550',
      'https://github.com/sgl-project/sglang/pull/6693',
      'https://github.com/block/goose/pull/8031',
    ],
    model: 'Qwen/Qwen3-32B',
    entry: { thinking: 'chat_template_kwargs' },
    thinksAbout: thinksByTemplate,
    thoughtIn: 'reasoning_content',
    inChoice: { logprobs: null, matched_stop: null },
    inChunk: { usage: null },
    givesUp: { reason: 'abort' },
    error: { status: 400, body: { error: { message: 'The request cannot be served' } } },
  },
  {
    engine: 'Ollama',
    sources: [
      'https://docs.ollama.com/api/openai-compatibility',
      'https://github.com/ollama/ollama/blob/00988753ff743bf26117964f6e43f9ebf10bce30/openai/openai.go',
      'https://github.com/Gitlawb/openclaude/issues/1371',
      'https://github.com/louisho5/picobot/issues/6',
    ],
    model: 'gpt-oss:20b',
    entry: { thinking: 'reasoning_effort', levels: ['none', 'low', 'medium', 'high'] },
    thinksAbout: thinksByEffort,
    thoughtIn: 'reasoning',
    inChunk: { system_fingerprint: 'fp_ollama' },
    callsInOnePiece: true,
    refusal: {
      status: 400,
      body: openAiError('"llama3.1:8b" does not support thinking'),
      refuses: ({ model, reasoning_effort: effort }) => model === 'llama3.1:8b' && effort !== undefined,
      guessed: { upstream: 'llama3.1:8b', thinking: 'reasoning_effort' },
    },
    error: {
      status: 400,
      body: openAiError('registry.ollama.ai/library/gemma3:4b does not support tools', { type: 'api_error' }),
    },
  },
  {
    engine: 'llama.cpp server',
    sources: [
      'https://github.com/ggml-org/llama.cpp/pull/23952',
      'https://github.com/ggml-org/llama.cpp/issues/13160',
      'https://github.com/defilantech/LLMKube/issues/126',
      'https://github.com/ggml-org/llama.cpp/issues/15377',
    ],
    model: 'qwen3-14b-q5',
    entry: { thinking: 'chat_template_kwargs' },
    thinksAbout: thinksByTemplate,
    thoughtIn: 'reasoning_content',
    refusal: {
      status: 500,
      body: { error: { code: 500, message: 'tools param requires --jinja flag', type: 'server_error' } },
      refuses: ({ model, tools }) => model === 'mistral-7b-q4' && tools !== undefined,
      guessed: { upstream: 'mistral-7b-q4' },
      by: 'tool',
    },
    error: {
      status: 500,
      body: {
        error: {
          code: 500,
          message: 'image input is not supported - hint: if this is unexpected, you may need to provide the mmproj',
          type: 'server_error',
        },
      },
    },
  },
  {
    engine: 'LM Studio',
    sources: [
      'https://lmstudio.ai/docs/app/api-changelog',
      'https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/908',
    ],
    model: 'openai/gpt-oss-20b',
    entry: {},
    thinksAbout: () => true,
    thoughtIn: 'reasoning',
    error: { status: 400, body: { error: 'Model does not support images. Please use a model that does.' } },
  },
  {
    engine: 'LiteLLM proxy',
    sources: [
      'https://docs.litellm.ai/docs/completion/drop_params',
      'https://github.com/BerriAI/litellm/issues/10938',
      'https://github.com/BerriAI/litellm/pull/33738',
      'https://github.com/Budibase/budibase/pull/17845',
    ],
    model: 'claude-sonnet',
    entry: { images: true, thinking: 'reasoning_effort' },
    thinksAbout: thinksByEffort,
    thoughtIn: 'reasoning_content',
    refusal: {
      status: 400,
      body: openAiError(
        "litellm.UnsupportedParamsError: OpenAI does not support the parameter 'thinking'., for model=qwen3-32b.",
        { code: '400' },
      ),
      refuses: ({ thinking }) => thinking !== undefined,
      guessed: { thinking: 'thinking' },
    },
    error: {
      status: 400,
      body: openAiError(
        "litellm.UnsupportedParamsError: gpt-5-nano doesn't support temperature=0.1. To drop unsupported params set `litellm.drop_params = True`.",
        { code: '400' },
      ),
    },
  },
];
