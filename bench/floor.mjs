// The floor: what a plain bot does for each event. Koa, koa-bodyparser, one HMAC over the raw body, one awaited BullMQ add.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import Koa from 'koa';
import bodyParser from 'koa-bodyparser';

const redis = new Redis(process.env.REDIS_URL, { maxRetriesPerRequest: null });
const queue = new Queue('floor', { connection: redis });
const secret = 'floor-secret';
const app = new Koa();
app.use(bodyParser());
app.use(async (context) => {
  const digest = createHmac('sha256', secret).update(context.request.rawBody).digest();
  timingSafeEqual(digest, digest);
  await queue.add('event', { body: context.request.body }, { removeOnComplete: true });
  context.body = '';
});
app.listen(Number(process.env.PORT), '127.0.0.1', () => process.stdout.write('is running\n'));
process.on('SIGTERM', () => process.exit(0));
