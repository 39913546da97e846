-- Library: the name of a claim, `worker.random`. claim-name.ts writes it.
-- Provides workerOf.

-- The name of the worker that made a claim.
local function workerOf(claim) return claim and string.match(claim, '^([^.]*)%.') end
