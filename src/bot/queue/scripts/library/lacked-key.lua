-- Library: the key of an entry, for scripts with inbox-entry.lua.
-- Provides lackedKeyOf.

-- The id of the key that encrypted an entry, unless it is one of `keyIds`.
local function lackedKeyOf(entry, keyIds)
  local keyId = entry.sealedAt and string.match(entry.text, '^s1%.(%x+)%.', entry.sealedAt)
  if not keyId then return nil end
  for _, known in ipairs(keyIds) do
    if known == keyId then return nil end
  end
  return keyId
end
