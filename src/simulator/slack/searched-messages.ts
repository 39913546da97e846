/** Maximum messages of a conversation that are searched. */
export const SEARCHED_MESSAGES = 500;
