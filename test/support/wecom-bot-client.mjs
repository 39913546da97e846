// WeCom's own client for AI bots as a process: prints each event as a line of JSON and executes the commands that it reads
// as such lines. node wecom-bot-client.mjs WS_URL BOT_ID SECRET
import { createInterface } from 'node:readline';
import { WSClient } from '@wecom/aibot-node-sdk';

const [, , wsUrl, botId, secret] = process.argv;
const tell = (line) => console.log(JSON.stringify(line));
const quiet = { debug() {}, info() {}, warn() {}, error() {} };
// It pings every 30 s: with shorter pauses it would take a busy server for dead, and connect again.
const client = new WSClient({ wsUrl, botId, secret, reconnectInterval: 50, logger: quiet });
client.on('authenticated', () => tell({ type: 'authenticated' }));
client.on('disconnected', (reason) => tell({ type: 'disconnected', reason }));
client.on('error', ({ message }) => tell({ type: 'error', message }));
client.on('message', (frame) => tell({ type: 'message', frame }));
client.on('event', (frame) => tell({ type: 'event', frame }));

/** Calls a method of the client by its name; `file` contains the bytes of a file. */
const perform = ({ call, args }) => client[call](...args.map((arg) => (arg?.file ? Buffer.from(arg.file) : arg)));
createInterface(process.stdin).on('line', (line) => {
  const told = JSON.parse(line);
  perform(told).then(
    (result) => tell({ type: 'done', id: told.id, result }),
    (error) => tell({ type: 'failed', id: told.id, message: error.message ?? error.errmsg, errcode: error.errcode }),
  );
});
client.connect();
