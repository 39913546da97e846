/** The bot's id or secret is wrong. */
export const REFUSED_SECRET = 853_000;
/** WeCom has no subscription for this connection, although the socket looks open. */
export const NOT_SUBSCRIBED = 846_609;
/** WeCom no longer knows the request of the frame: a later connection may not answer an earlier one's request. */
export const UNKNOWN_REQUEST = 846_605;
/** The stream's lifetime has ended; it cannot grow any more. */
export const STREAM_OVER = 846_608;
