/** A part of a text: words, or a name with its `@`. */
export interface MentionPiece {
  text: string;
  isMention: boolean;
}

/** Splits a text at its mentions; joined, the parts are the original text. */
export type CutMentions = (text: string) => MentionPiece[];

/** Not after a letter or digit, as in a mail address; Han letters may be on both sides. */
const BEFORE = String.raw`(?<![\p{Script=Latin}\p{N}._-])@`;
const AFTER = String.raw`(?![\p{Script=Latin}\p{N}_-])`;

/** @param names that can be mentioned; matched as whole names, case-insensitively */
export function mentionCutter(names: readonly string[]): CutMentions {
  const maxFirst = names.filter((name) => name !== '').sort((left, right) => right.length - left.length);
  const pattern = new RegExp(`${BEFORE}(?:${maxFirst.map(quoted).join('|')})${AFTER}`, 'giu');
  return (text) => {
    if (maxFirst.length === 0 || !text.includes('@')) return [{ text, isMention: false }];
    const pieces: MentionPiece[] = [];
    let from = 0;
    for (const { index, 0: mention } of text.matchAll(pattern)) {
      if (index > from) pieces.push({ text: text.slice(from, index), isMention: false });
      from = index + mention.length;
      pieces.push({ text: mention, isMention: true });
    }
    if (from < text.length) pieces.push({ text: text.slice(from), isMention: false });
    return pieces;
  };
}

function quoted(name: string): string {
  return name.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
