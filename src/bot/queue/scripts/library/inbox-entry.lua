-- Library: entries of the lists `inbox` and `held`. docs/reference/REDIS_KEYS.md describes the format; inbox-entry.ts reads it too.
-- Provides readEntry, writeEntry and sealedOf.

-- Splits an entry into id, mergeKey, takenMs, seq, and `sealedAt`, the position of the encrypted message. An entry of an unknown format
-- has an id and a merge key at most.
local function readEntry(text)
  local id, mergeKey, takenMs, seq, sealedAt = string.match(text, '^(%x+):([^:]+):(%d+):(%d+):()')
  if not id then id, mergeKey = string.match(text, '^(%x+):([^:]+):') end
  local entry = {
    text = text, id = id, mergeKey = mergeKey, takenMs = takenMs and tonumber(takenMs), seq = seq and tonumber(seq), sealedAt = sealedAt,
  }
  return entry
end

local function writeEntry(id, mergeKey, takenMs, seq, sealed)
  return id .. ':' .. mergeKey .. ':' .. takenMs .. ':' .. seq .. ':' .. sealed
end

-- The encrypted message of an entry.
local function sealedOf(entry) return string.sub(entry.text, entry.sealedAt) end
