// Entry point of the process that parses large chat requests, started by read-request.ts.
import { serveOrders } from '../../shared/process/serve-orders.mjs';
import { asChatApiError } from './chat-api-error.ts';
import { readChatRequest } from './chat-request.ts';
import { parseBody } from './read-body.ts';
import type { JudgedBody, ReadOrder } from './read-request.ts';

function judge({ bytes, models, rules }: ReadOrder): JudgedBody {
  try {
    return { request: readChatRequest(parseBody(bytes), new Map(models), rules) };
  } catch (thrown) {
    const { code, message, param } = asChatApiError(thrown);
    return { fault: { code, message, param: param ?? undefined } };
  }
}

serveOrders((order: ReadOrder) => Promise.resolve(judge(order)));
