/** Usual names of models that do not chat. */
const OTHER_WORK =
  /embed|rerank|whisper|speech|audio|image|dall-e|moderation|realtime|transcri|diffusion|(?<![a-z])(?:tts|asr|bge|gte)(?![a-z])/i;
/** Names that CHAT_MODELS accepts. */
const NAME = /^[\w.:/@-]{1,200}$/;

/** The names of a list of models, without models for other work than chat and without names that nobody can type. */
export function chatModelNames(offered: readonly string[]): string[] {
  return [...new Set(offered)].filter((name) => NAME.test(name) && !OTHER_WORK.test(name));
}
