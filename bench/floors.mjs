// The floors L1 to L5, one per process (FLOOR): the cost of a bot with the same external work and no guarantees.
// L1 node:http and the signature; L2 Koa, a body parser and the signature; L3 is L2 plus one awaited BullMQ add;
// L4 answers without a queue; L5 is L3 with a BullMQ worker in the same process that does L4's work.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import Koa from 'koa';
import bodyParser from 'koa-bodyparser';
import { Agent, request } from 'undici';

const { FLOOR, PORT, REDIS_URL, SIGNING_SECRET, MODEL_URL, SLACK_URL } = process.env;
const EDIT_GAP_MS = 500;
const CONCURRENCY = 2_500;
const JSON_HEADERS = { 'content-type': 'application/json' };

function isSigned(headers, body) {
  const expected = createHmac('sha256', SIGNING_SECRET)
    .update(`v0:${headers['x-slack-request-timestamp']}:`)
    .update(body)
    .digest('hex');
  const given = Buffer.from(String(headers['x-slack-signature']));
  const made = Buffer.from(`v0=${expected}`);
  return given.length === made.length && timingSafeEqual(given, made);
}

const dispatcher = new Agent();

async function callSlack(method, args) {
  const url = `${SLACK_URL}/${method}`;
  const answer = await request(url, { dispatcher, method: 'POST', headers: JSON_HEADERS, body: JSON.stringify(args) });
  return answer.body.json();
}

/** Streams an answer as one post and edits, the newest text at most every half second. */
async function relay({ channel, text: question }) {
  let text = '';
  let posted;
  let shown = '';
  let lastMs = 0;
  let writing;
  const write = async () => {
    shown = text;
    lastMs = performance.now();
    if (posted === undefined) posted = (await callSlack('chat.postMessage', { channel, text })).ts;
    else await callSlack('chat.update', { channel, ts: posted, text });
  };
  const writeSoon = () => {
    if (writing || performance.now() - lastMs < EDIT_GAP_MS) return;
    writing = write().finally(() => (writing = undefined));
  };
  const messages = [{ role: 'user', content: question }];
  const body = JSON.stringify({ model: 'svc-plus', stream: true, messages });
  const answer = await request(`${MODEL_URL}/chat/completions`, {
    dispatcher,
    method: 'POST',
    headers: JSON_HEADERS,
    body,
  });
  answer.body.setEncoding('utf8');
  let rest = '';
  for await (const piece of answer.body) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop();
    for (const line of lines) {
      if (!line.startsWith('data: {')) continue;
      text += JSON.parse(line.slice(6)).choices[0]?.delta.content ?? '';
      if (text !== '') writeSoon();
    }
  }
  // oxlint-disable-next-line typescript/await-thenable -- assigned by writeSoon
  await writing;
  if (shown !== text) await write();
}

const redis = ['L3', 'L5'].includes(FLOOR) ? new Redis(REDIS_URL, { maxRetriesPerRequest: null }) : undefined;
const queue = redis && new Queue(FLOOR, { connection: redis });
if (FLOOR === 'L5')
  new Worker(FLOOR, ({ data }) => relay(data.body.event), { connection: redis, concurrency: CONCURRENCY });

function bareHandler(incoming, response) {
  const chunks = [];
  incoming.on('data', (chunk) => chunks.push(chunk));
  incoming.on('end', () => {
    response.writeHead(isSigned(incoming.headers, Buffer.concat(chunks)) ? 200 : 401);
    response.end();
  });
}

function koaHandler() {
  const app = new Koa();
  app.use(bodyParser());
  app.use(async (context) => {
    if (!isSigned(context.headers, context.request.rawBody)) context.throw(401);
    const { body } = context.request;
    await queue?.add('event', { body }, { removeOnComplete: true });
    if (FLOOR === 'L4') relay(body.event).catch((error) => process.stderr.write(`${error}\n`));
    context.body = '';
  });
  return app.callback();
}

createServer(FLOOR === 'L1' ? bareHandler : koaHandler()).listen(Number(PORT), '127.0.0.1', () =>
  process.stdout.write('is running\n'),
);
process.on('SIGTERM', () => process.exit(0));
