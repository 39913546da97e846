/** So far back messages of a conversation are looked for. */
export const SEARCHED_MESSAGES = 500;
