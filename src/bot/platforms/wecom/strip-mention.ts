/** Spaces of any width, and the invisible characters that a client may put behind a mention. */
const SPACE = '[\\s\\p{Z}\\p{Cf}]';

/** Takes the bot's own mention off a group message. Mentions are plain text there: `@Name`, then some kind of space. */
export interface MentionStripper {
  /** The text without the mentions that it begins with; unchanged when it begins with none. */
  fromStart(text: string): string;
  /** The same, and without one at the end: for slash words only, where `/new @Bot` means `/new`. */
  fromBothEnds(text: string): string;
}

/**
 * @param botName as shown in the chat; case counts, and any space in it matches any kind of space
 */
export function createMentionStripper(botName: string): MentionStripper {
  const name = botName.trim().split(/\s+/u).map(escapePattern).join(`${SPACE}+`);
  // A longer name that merely begins like the bot's is somebody else's.
  const clear = `@${name}(?![\\p{L}\\p{N}\\p{M}_-])`;
  const atStart = new RegExp(`^${SPACE}*${clear}${SPACE}*`, 'u');
  const anywhere = new RegExp(clear, 'u');
  const glued = new RegExp(`^${SPACE}*@${name}(?=\\p{Script=Han})`, 'u');
  const atEnd = new RegExp(`(?<!${SPACE})${SPACE}+@${name}${SPACE}*$`, 'u');

  const fromStart = (text: string): string => {
    let rest = text;
    while (atStart.test(rest)) rest = rest.replace(atStart, '');
    // Group messages reach the bot only when they mention it. If no clear mention is found, one that Chinese text
    // follows without a space is meant.
    return rest === text && !anywhere.test(text) ? text.replace(glued, '') : rest;
  };
  return { fromStart, fromBothEnds: (text) => fromStart(text).replace(atEnd, '') };
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
