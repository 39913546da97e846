import { BUILDS } from './parley-env.mjs';
import { floodOnce, withSubjects, inTurn } from './subjects.mjs';
import { median } from './load.mjs';
const variants = JSON.parse(process.env.VARIANTS);
const rounds = Number(process.env.ROUNDS ?? 4);
const roles = process.env.PROF_ROLES ?? 'receiver,worker';
await withSubjects(async ({ conversations, model, start, parley }) => {
  const subjects = [];
  for (const v of variants) subjects.push(await start(v.name, roles.split('+').map(r => { const p = parley(r, { build: v.folder ? { ...BUILDS[0], folder: v.folder } : BUILDS[0], settings: v.settings ?? {} }); if (v.args) p.args = [...v.args, ...p.args]; return p; })));
  for (let w = 0; w < 5; w++) for (const s of subjects) await floodOnce({ conversations, model, subject: s, pace: { tokens: 100 }, count: 800, atOnce: 128 });
  const got = Object.fromEntries(subjects.map(s => [s.name, []]));
  for (let i = 0; i < rounds; i++) for (const s of subjects) { const r = await floodOnce({ conversations, model, subject: s, pace: { tokens: 100 }, count: 800, atOnce: 128 }); got[s.name].push(r); }
  for (const s of subjects) console.log(s.name, 'cpu', got[s.name].map(r => r.cpuMs.toFixed(3)).join(' '), 'median', median(got[s.name].map(r => r.cpuMs)).toFixed(3), 'redis', median(got[s.name].map(r => r.redisCpuMs)).toFixed(3), 'rate', median(got[s.name].map(r=>r.perSecond)).toFixed(0));
});
