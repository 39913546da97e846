/** Spaces of any width, and the invisible characters that a client may insert after a mention. */
const SPACE = '[\\s\\p{Z}\\p{Cf}]';

/** Removes the bot's own mention from a group message. Mentions are plain text there: `@Name`, then some kind of space. */
export interface MentionStripper {
  /** Removes leading mentions; a text without any is unchanged. */
  fromStart(text: string): string;
  /** Also removes a trailing mention. For slash commands only, where `/new @Bot` means `/new`. */
  fromBothEnds(text: string): string;
}

/** @param botName as shown in the chat; case-sensitive, and any space in it matches any kind of space */
export function createMentionStripper(botName: string): MentionStripper {
  const name = botName.trim().split(/\s+/u).map(escapePattern).join(`${SPACE}+`);
  // A longer name that begins with the bot's name belongs to another member.
  const clear = `@${name}(?![\\p{L}\\p{N}\\p{M}_-])`;
  const atStart = new RegExp(`^${SPACE}*${clear}${SPACE}*`, 'u');
  const anywhere = new RegExp(clear, 'u');
  const glued = new RegExp(`^${SPACE}*@${name}(?=\\p{Script=Han})`, 'u');
  const atEnd = new RegExp(`(?<!${SPACE})${SPACE}+@${name}${SPACE}*$`, 'u');

  const fromStart = (text: string): string => {
    let rest = text;
    while (atStart.test(rest)) rest = rest.replace(atStart, '');
    // Group messages reach the bot only if they mention it. Without a clear mention, a mention directly followed by Chinese
    // text is accepted.
    return rest === text && !anywhere.test(text) ? text.replace(glued, '') : rest;
  };
  return { fromStart, fromBothEnds: (text) => fromStart(text).replace(atEnd, '') };
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
