// Asks with one client library: `fork('chat-clients.mjs', [NAME])`.
import { z } from 'zod';

const { baseURL, apiKey, isBare } = JSON.parse(process.env['CLIENT'] ?? '{}');
const MODEL = 'svc-max';
const COUNT = 'count to 3';
const WEATHER = 'What is the weather in Beijing?';
const parameters = z.object({ city: z.string().describe('the city') });
const description = isBare ? undefined : 'Tells the weather of a city';
const name = 'get_weather';

async function joined(pieces, textOf) {
  let text = '';
  for await (const piece of pieces) text += textOf(piece) ?? '';
  return text;
}

/** Asks with the Vercel AI SDK: text, stream, and a tool that is executed in between. */
async function askWithVercel(model) {
  const { generateText, stepCountIs, streamText, tool } = await import('ai');
  const calls = [];
  const execute = async (given) => {
    calls.push(given);
    return `sunny in ${given.city}`;
  };
  const tools = { [name]: tool({ description, inputSchema: parameters, execute }) };
  const streamed = streamText({ model, prompt: COUNT, onError: ({ error }) => process.send({ error: String(error) }) });
  const called = await generateText({ model, prompt: WEATHER, tools, stopWhen: stepCountIs(3) });
  return {
    text: (await generateText({ model, prompt: COUNT })).text,
    streamed: await joined(streamed.textStream, (piece) => piece),
    called: calls[0],
    answered: called.text,
  };
}

const CLIENTS = {
  async openai() {
    const { default: OpenAI } = await import('openai');
    const { zodFunction } = await import('openai/helpers/zod');
    const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
    const ask = (content) => ({ model: MODEL, messages: [{ role: 'user', content }] });
    const plain = await client.chat.completions.create(ask(COUNT));
    const stream = await client.chat.completions.create({ ...ask(COUNT), stream: true });
    const streamed = await joined(stream, ({ choices }) => choices[0]?.delta.content);
    const tools = [zodFunction({ name, description, parameters })];
    const called = await client.chat.completions.parse({ ...ask(WEATHER), tools });
    const { message } = called.choices[0];
    const answered = await client.chat.completions.create({
      model: MODEL,
      tools,
      messages: [
        ...ask(WEATHER).messages,
        message,
        { role: 'tool', tool_call_id: message.tool_calls[0].id, content: 'sunny in Beijing' },
      ],
    });
    return {
      text: plain.choices[0].message.content,
      streamed,
      called: message.tool_calls[0].function.parsed_arguments,
      answered: answered.choices[0].message.content,
    };
  },

  async '@ai-sdk/openai-compatible'() {
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
    return askWithVercel(createOpenAICompatible({ name: 'parley', baseURL, apiKey })(MODEL));
  },

  async '@ai-sdk/openai'() {
    const { createOpenAI } = await import('@ai-sdk/openai');
    return askWithVercel(createOpenAI({ baseURL, apiKey }).chat(MODEL));
  },

  async '@langchain/openai'() {
    const { ChatOpenAI } = await import('@langchain/openai');
    const { HumanMessage, ToolMessage } = await import('@langchain/core/messages');
    const model = new ChatOpenAI({ model: MODEL, apiKey, configuration: { baseURL }, maxRetries: 0 });
    const schema = description === undefined ? parameters : parameters.describe(description);
    const structured = model.withStructuredOutput(schema, { name, method: 'functionCalling' });
    const tool = { type: 'function', function: { name, description, parameters: z.toJSONSchema(parameters) } };
    const bound = model.bindTools([tool]);
    const question = new HumanMessage(WEATHER);
    const call = await bound.invoke([question]);
    const result = new ToolMessage({ tool_call_id: call.tool_calls[0].id, content: 'sunny in Beijing' });
    return {
      text: (await model.invoke(COUNT)).content,
      streamed: await joined(await model.stream(COUNT), ({ content }) => content),
      called: await structured.invoke(WEATHER),
      answered: (await bound.invoke([question, call, result])).content,
    };
  },

  async llamaindex() {
    const { OpenAI } = await import('@llamaindex/openai');
    const { tool } = await import('llamaindex');
    const llm = new OpenAI({ model: MODEL, apiKey, baseURL, maxRetries: 0 });
    const ask = (content) => ({ messages: [{ role: 'user', content }] });
    const tools = [
      tool({ name, description: description ?? '', parameters, execute: ({ city }) => `sunny in ${city}` }),
    ];
    const called = await llm.chat({ ...ask(WEATHER), tools });
    const [call] = called.message.options.toolCall;
    const result = { id: call.id, result: 'sunny in Beijing', isError: false };
    const answered = await llm.chat({
      tools,
      messages: [
        ...ask(WEATHER).messages,
        called.message,
        { role: 'user', content: result.result, options: { toolResult: result } },
      ],
    });
    return {
      text: (await llm.chat(ask(COUNT))).message.content,
      streamed: await joined(await llm.chat({ ...ask(COUNT), stream: true }), ({ delta }) => delta),
      called: typeof call.input === 'string' ? JSON.parse(call.input) : call.input,
      answered: answered.message.content,
    };
  },

  async '@openai/agents'() {
    const { Agent, OpenAIProvider, Runner, tool } = await import('@openai/agents');
    const modelProvider = new OpenAIProvider({ apiKey, baseURL, useResponses: false });
    const runner = new Runner({ modelProvider, tracingDisabled: true });
    const calls = [];
    const execute = async (given) => {
      calls.push(given);
      return `sunny in ${given.city}`;
    };
    const weather = tool({ name, description: description ?? '', parameters, execute });
    const plain = new Agent({ name: 'Counter', model: MODEL });
    const agent = new Agent({ name: 'Forecaster', model: MODEL, tools: [weather] });
    const stream = await runner.run(plain, COUNT, { stream: true });
    const streamed = await joined(stream.toTextStream(), (piece) => piece);
    await stream.completed;
    const { finalOutput: answered } = await runner.run(agent, WEATHER);
    return { text: (await runner.run(plain, COUNT)).finalOutput, streamed, called: calls[0], answered };
  },

  async 'token.js'() {
    const { TokenJS } = await import('token.js');
    const client = new TokenJS({ baseURL, apiKey });
    const ask = (content) => ({
      provider: 'openai-compatible',
      model: MODEL,
      messages: [{ role: 'user', content }],
    });
    const tools = [{ type: 'function', function: { name, description, parameters: z.toJSONSchema(parameters) } }];
    const plain = await client.chat.completions.create(ask(COUNT));
    const stream = await client.chat.completions.create({ ...ask(COUNT), stream: true });
    const streamed = await joined(stream, ({ choices }) => choices[0]?.delta.content);
    const called = await client.chat.completions.create({ ...ask(WEATHER), tools });
    const { message } = called.choices[0];
    const answered = await client.chat.completions.create({
      ...ask(WEATHER),
      tools,
      messages: [
        ...ask(WEATHER).messages,
        message,
        { role: 'tool', tool_call_id: message.tool_calls[0].id, content: 'sunny in Beijing' },
      ],
    });
    return {
      text: plain.choices[0].message.content,
      streamed,
      called: JSON.parse(message.tool_calls[0].function.arguments),
      answered: answered.choices[0].message.content,
    };
  },
};

try {
  process.send({ result: await CLIENTS[process.argv[2]]() });
} catch (error) {
  process.send({ error: `${error.stack}\n${error.responseBody ?? error.cause ?? ''}` });
}
process.disconnect();
