/** An opening mark of reasoning, and its closing marks. */
export interface ThoughtMark {
  open: string;
  closes: readonly string[];
  /** The opening mark is also an ordinary word: without a closing mark it is part of the answer. */
  isWord?: true;
}

const HARMONY_FINAL = ['<|start|>assistant<|channel|>final<|message|>', '<|channel|>final<|message|>'];

/** How models mark reasoning in their text if the engine does not extract it. Add a row for a new family. */
export const THOUGHT_MARKS: readonly ThoughtMark[] = [
  // DeepSeek, Qwen, GLM, MiniMax and most others.
  { open: '<think>', closes: ['</think>'] },
  { open: '<thinking>', closes: ['</thinking>'] },
  { open: '<Think>', closes: ['</Think>'] },
  { open: '<Thinking>', closes: ['</Thinking>'] },
  { open: '<THINK>', closes: ['</THINK>'] },
  { open: '<THINKING>', closes: ['</THINKING>'] },
  { open: '<thought>', closes: ['</thought>'] },
  { open: '<thoughts>', closes: ['</thoughts>'] },
  { open: '<reasoning>', closes: ['</reasoning>'] },
  { open: '<reason>', closes: ['</reason>'] },
  { open: '<reflection>', closes: ['</reflection>'] },
  { open: '<scratchpad>', closes: ['</scratchpad>'] },
  // Proxies that write pages for people.
  { open: '<details type="reasoning"', closes: ['</details>'] },
  // Doubao.
  { open: '<seed:think>', closes: ['</seed:think>'] },
  { open: '<seed:cot_budget_reflect>', closes: ['</seed:cot_budget_reflect>'] },
  // Magistral.
  { open: '[THINK]', closes: ['[/THINK]'] },
  // Kimi.
  { open: '◁think▷', closes: ['◁/think▷'] },
  // OpenThinker, Sky-T1.
  { open: '<|begin_of_thought|>', closes: ['<|end_of_thought|>'] },
  // Hunyuan, Command A, Apertus, MedGemma, Gemma.
  { open: '<|thinking|>', closes: ['<|/thinking|>', '</|thinking|>'] },
  { open: '<|START_THINKING|>', closes: ['<|END_THINKING|>'] },
  { open: '<|inner_prefix|>', closes: ['<|inner_suffix|>'] },
  { open: '<unused94>thought', closes: ['<unused95>'] },
  { open: '<|channel>thought', closes: ['<channel|>'] },
  { open: '<|think|>', closes: ['<|/think|>'] },
  // gpt-oss, with its marks or with the marks stripped.
  { open: '<|channel|>analysis<|message|>', closes: ['<|end|>', '<|return|>', ...HARMONY_FINAL] },
  { open: '<|channel|>commentary<|message|>', closes: ['<|end|>', '<|return|>', ...HARMONY_FINAL] },
  { open: 'analysis', closes: ['assistantfinal'], isWord: true },
  // Granite.
  { open: 'Here is my thought process:', closes: ['Here is my response:'], isWord: true },
  { open: "Here's my thought process:", closes: ["Here's my response:", 'Here is my response:'], isWord: true },
];

/** Marks in front of the answer that are not part of it, with the closing mark if there is one. */
export const ANSWER_MARKS: readonly { open: string; close?: string }[] = [
  ...HARMONY_FINAL.map((open) => ({ open })),
  { open: '<|start|>assistant' },
  { open: '<|channel|>final ' },
  { open: '<|constrain|>text<|message|>' },
  { open: '<|constrain|>json<|message|>' },
  { open: '<|start_header_id|>assistant<|end_header_id|>' },
  { open: '<|im_start|>assistant' },
  { open: '<|assistant|>' },
  { open: '<｜Assistant｜>' },
  { open: '<start_of_turn>model' },
  { open: '<|begin_of_solution|>', close: '<|end_of_solution|>' },
  { open: '<|START_RESPONSE|>', close: '<|END_RESPONSE|>' },
  { open: '<response>', close: '</response>' },
  { open: '<answer>', close: '</answer>' },
];

/** End-of-message marks of models; not part of an answer that ends with them. */
export const END_MARKS: readonly string[] = [
  ...['<|end|>', '<|return|>', '<|im_end|>', '<|eot_id|>', '<|eom_id|>', '<|endoftext|>', '<|end_of_text|>'],
  ...['<|end_of_solution|>', '<|END_RESPONSE|>', '<｜end▁of▁sentence｜>', '<end_of_turn>', '<|call|>', '<|user|>'],
  ...['</s>', '<|observation|>', '<|eos|>', '<|endofassistant|>', '<eos>', '<|EOT|>', '<|end▁of▁sentence|>', '[e~['],
];

/** Marks around the result in an answer of GLM. They are removed, and what they enclose is part of the answer. */
export const BOX_MARKS: readonly string[] = ['<|begin_of_box|>', '<|end_of_box|>'];

export const GEMMA_TURN = '<start_of_turn>';

/** Beginnings of a turn of another speaker, which a model invents after its own end mark. */
export const FOREIGN_TURNS: readonly string[] = ['user', 'system', 'tool'].flatMap((role) => [
  `<|im_start|>${role}`,
  `<|start_header_id|>${role}`,
  `<|start|>${role}`,
  GEMMA_TURN + role,
]);

/** An opening mark of tool calls. Without a closing mark the calls extend to the end of the text. */
export interface CallMark {
  open: string;
  closes: readonly string[];
  /** The mark also occurs in ordinary XML: what it encloses is a call only if it names an offered tool. */
  isWord?: true;
}

/** How models write tool calls into their text if the engine does not parse them. */
export const CALL_MARKS: readonly CallMark[] = [
  ...tags(
    'tool_call',
    'tool_calls',
    'toolcall',
    'TOOLCALL',
    'function_call',
    'function_calls',
    'functioncall',
    'TOOL_CALL',
  ),
  ...tags(
    'minimax:tool_call',
    'seed:tool_call',
    '｜DSML｜function_calls',
    '｜DSML｜tool_calls',
    'tool_use',
    'xai:function_call',
    'antml:function_calls',
    'longcat_tool_call',
  ),
  ...tags('tools', 'tool_code').map((mark) => ({ ...mark, isWord: true as const })),
  { open: '<function=', closes: ['</function>'] },
  { open: '<function(', closes: ['</function>'], isWord: true },
  { open: '<function name=', closes: ['</function>'], isWord: true },
  { open: '<tool_call name=', closes: ['</tool_call>'] },
  { open: '<tool name=', closes: ['</tool>'], isWord: true },
  { open: '<invoke name=', closes: ['</invoke>'], isWord: true },
  { open: '[TOOL_CALL]', closes: ['[/TOOL_CALL]'] },
  { open: '[TOOL_CALLS]', closes: ['[/TOOL_CALLS]'] },
  { open: '[TOOL_REQUEST]', closes: ['[END_TOOL_REQUEST]'] },
  { open: '<|python_tag|>', closes: ['<|eom_id|>', '<|eot_id|>'] },
  { open: '<｜tool▁calls▁begin｜>', closes: ['<｜tool▁calls▁end｜>'] },
  { open: '<｜tool_calls_begin｜>', closes: ['<｜tool_calls_end｜>'] },
  { open: '<｜tool▁call▁begin｜>', closes: ['<｜tool▁call▁end｜>'] },
  { open: '<|tool_calls_section_begin|>', closes: ['<|tool_calls_section_end|>'] },
  { open: '<|tool_call_begin|>', closes: ['<|tool_call_end|>'] },
  { open: '<|tool_call_start|>', closes: ['<|tool_call_end|>'] },
  { open: '<|tool_call|>', closes: ['<|/tool_call|>', '<|tool_call_end|>', '</tool_call>', '<|end|>'] },
  { open: '<|tool_call>', closes: ['<tool_call|>'] },
  { open: '<|tools_prefix|>', closes: ['<|tools_suffix|>'] },
  { open: '<|action_start|>', closes: ['<|action_end|>'] },
  { open: '<|START_ACTION|>', closes: ['<|END_ACTION|>'] },
  { open: '<start_function_call>', closes: ['<end_function_call>'] },
  { open: '<|channel|>commentary to=', closes: ['<|call|>', '<|end|>', ...HARMONY_FINAL] },
  { open: '<|start|>assistant<|channel|>commentary to=', closes: ['<|call|>', '<|end|>'] },
  { open: '<|start|>assistant to=', closes: ['<|call|>', '<|end|>'] },
];

/** Word in front of a list of calls: `functools[{"name": …}]` (Phi). */
export const LIST_WORD = 'functools';

function tags(...names: readonly string[]): CallMark[] {
  return names.map((name) => ({ open: `<${name}>`, closes: [`</${name}>`] }));
}

/**
 * Beginnings of reasoning without an opening mark, which refers to the user in the third person. Compared in lower case. A
 * text with such a beginning is held back until a closing mark shows whether it is reasoning.
 */
export const THOUGHT_BEGINNINGS: readonly string[] = [
  ...['the user ', "the user's ", 'user ', 'they ask', 'they want', 'they say', 'the question ', 'the person '],
  ...[
    'okay, the user',
    'okay, so',
    'okay, let',
    'okay, i ',
    'ok, the user',
    'ok, so',
    'ok, let',
    'alright, the user',
    'alright, so',
    'alright, let',
  ],
  ...[
    'hmm',
    'let me think',
    'let me see',
    'let me analy',
    "let's think",
    'let us think',
    'so the user',
    'so, the user',
    'first, i ',
    'first, let',
  ],
  ...['we need to', 'we have to', 'we are asked', 'we must', 'i need to', 'i should', 'i have to', 'i must '],
  ...[
    '用户',
    '好的，用户',
    '好，用户',
    '嗯',
    '首先，用户',
    '首先，我',
    '我需要',
    '我们需要',
    '我应该',
    '让我想',
    '让我先',
    '这个问题',
    '问题是',
    '对方',
  ],
];

/** All closing marks of reasoning, whatever the opening mark. */
export const THOUGHT_CLOSES: readonly string[] = [
  ...new Set(
    THOUGHT_MARKS.filter(({ isWord }) => isWord === undefined)
      .flatMap(({ closes }) => closes)
      .filter(
        (close) =>
          !close.startsWith('<|end|') && !close.startsWith('<|return') && close.length < 24 && close !== '</details>',
      ),
  ),
];

const QUOTES_BEFORE = new Set('`\'"“‘「『（( \t');
const SENTENCE_END = /[.!?。！？…:：)）\]}>*\d]/;

/**
 * Whether a closing mark in the middle of a text ends reasoning that had no opening mark, rather than being mentioned: it is
 * at the beginning or end of a line, or directly after the end of a sentence or a word of Latin letters.
 * @param before the character before it @param after the character behind it; both empty at the edges of the text
 */
export function endsThought(before: string, after: string): boolean {
  if (QUOTES_BEFORE.has(before) || after === '`') return false;
  if (before === '' || before === '\n' || after === '\n' || after === '\r') return true;
  return SENTENCE_END.test(before) || /\p{Script=Latin}/u.test(before);
}
