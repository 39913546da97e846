/** See serve-orders.mjs. @param handle throws nothing */
export function serveOrders<Order extends { bytes: Buffer }>(handle: (order: Order) => Promise<unknown>): void;
