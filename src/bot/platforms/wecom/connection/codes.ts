/** The bot's id or its secret is wrong. */
export const REFUSED_SECRET = 853_000;
/** WeCom knows of no subscription over this connection, whatever it looks like from here. */
export const NOT_SUBSCRIBED = 846_609;
/** The request that a frame answers is not known any more: a later connection may not answer an earlier one's. */
export const UNKNOWN_REQUEST = 846_605;
/** A stream cannot grow any more, since its minutes are over. */
export const STREAM_OVER = 846_608;
