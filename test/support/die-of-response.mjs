// Loaded into a process before it starts (`node --import`) and into those that it forks: a response with the header
// `x-deadly-after-ms` kills whatever process reads it.
import { subscribe } from 'node:diagnostics_channel';

subscribe('undici:request:headers', ({ response }) => {
  const fields = response.headers.map(String);
  const at = fields.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === 'x-deadly-after-ms');
  if (at >= 0) setTimeout(() => process.kill(process.pid, 'SIGKILL'), Number(fields[at + 1]));
});
