import type { MaskKind } from '../../domain/mask-kinds.ts';
import { MASK_TEXTS } from '../../i18n/mask-texts.ts';
import { languageOfText, localize, type Language } from '../../../shared/text/texts.ts';
import type { ChatClient, ChatMessage, ContentPart } from '../../model/chat-types.ts';
import { maskText, type MaskRules } from './mask-text.ts';

/** @returns undefined if nothing is masked */
export function maskRulesOf(kinds: readonly MaskKind[], language: Language): MaskRules | undefined {
  if (kinds.length === 0) return undefined;
  const words = {
    'id-number': localize(MASK_TEXTS['id-number'], language),
    phone: localize(MASK_TEXTS.phone, language),
    card: localize(MASK_TEXTS.card, language),
    email: localize(MASK_TEXTS.email, language),
  };
  return { kinds: new Set(kinds), words };
}

/**
 * Masks everything that people, files and tools bring into a prompt, also in later rounds of tools and in summaries. The
 * operator's own instructions stay as they are (SECURITY.md masking).
 */
export function maskPrompts<Client extends Pick<ChatClient, 'stream'>>(
  chat: Client,
  kinds: readonly MaskKind[],
): Client {
  const rules = { en: maskRulesOf(kinds, 'en'), zh: maskRulesOf(kinds, 'zh') };
  if (!rules.en) return chat;
  const mask = (text: string) => {
    const own = rules[languageOfText(text)];
    return own ? maskText(text, own) : text;
  };
  const maskPart = (part: ContentPart): ContentPart =>
    part.type === 'text' ? { type: 'text', text: mask(part.text) } : part;
  const maskMessage = (message: ChatMessage): ChatMessage => {
    if (message.role === 'system') return message;
    if (typeof message.content !== 'string')
      return { ...message, content: message.content.map(maskPart) } as ChatMessage;
    return { ...message, content: mask(message.content) };
  };
  // Each round of tools sends the same messages again.
  const masked = new WeakMap<ChatMessage, ChatMessage>();
  const maskOnce = (message: ChatMessage): ChatMessage => {
    const known = masked.get(message) ?? maskMessage(message);
    masked.set(message, known);
    return known;
  };
  return {
    ...chat,
    stream: (request, signal, onEvent) =>
      chat.stream({ ...request, messages: request.messages.map(maskOnce) }, signal, onEvent),
  };
}
