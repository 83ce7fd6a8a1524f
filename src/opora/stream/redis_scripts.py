"""What Redis itself does in one step, so that writers in several processes can't come between each other."""

from __future__ import annotations

from opora.domain.stream import FIRST, TERMINAL, ResponseType
from opora.stream.wire import kind_prefix

GONE = -1
CLOSED = -2

_TERMINAL = kind_prefix(TERMINAL).decode()
_TITLE = kind_prefix(ResponseType.SESSION_TITLE).decode()

_END_OF_LOG = f"""
local function begins(line, prefix) return line and string.sub(line, 1, #prefix) == prefix end
local function ending(key)
  local last = redis.call('LRANGE', key, -2, -1)
  if begins(last[#last], '{_TERMINAL}') then return 'ended' end
  if #last == 2 and begins(last[2], '{_TITLE}') and begins(last[1], '{_TERMINAL}') then return 'titled' end
  return ''
end
"""

APPEND = f"""{_END_OF_LOG}
local list, lease, stop = KEYS[1], KEYS[2], KEYS[3]
local line, kind, owner = ARGV[1], ARGV[2], ARGV[3]
local ttl, title_wait, lease_time = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local length = redis.call('LLEN', list)
if length == 0 then
  if kind ~= '{FIRST.value}' then return {GONE} end
  redis.call('SET', lease, owner, 'PX', lease_time)
else
  local ended = ending(list)
  if ended ~= '' then
    local age = ttl - redis.call('PTTL', list)
    if kind ~= '{ResponseType.SESSION_TITLE.value}' or ended == 'titled' or age > title_wait then return {CLOSED} end
  end
end
redis.call('RPUSH', list, line)
redis.call('PEXPIRE', list, ttl)
redis.call('PUBLISH', list, kind)
if kind == '{ResponseType.STOP.value}' then redis.call('PUBLISH', stop, kind) end
if kind == '{TERMINAL.value}' then redis.call('DEL', lease) end
return length
"""
"""Keys: list, lease, stop channel. Arguments: line, kind, owner, and in milliseconds TTL, wait for a title, lease.

The age of the last event is what the list has lost of its TTL, so that no clock but the server's is asked.
"""

RENEW = """
local owner = redis.call('GET', KEYS[1])
if owner and owner ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', tonumber(ARGV[2]))
return 1
"""
"""Key: lease. Arguments: owner, milliseconds."""

TAKE_OVER = f"""{_END_OF_LOG}
if redis.call('EXISTS', KEYS[1]) == 0 or ending(KEYS[1]) ~= '' then return 0 end
if redis.call('SET', KEYS[2], ARGV[1], 'NX', 'PX', tonumber(ARGV[2])) then return 1 end
return 0
"""
"""Keys: list, lease. Arguments: owner, milliseconds. 1 when this owner now writes the log."""
