-- Other spellings of a key, as crawler/frontier/frontier.py has them: a hash of lists of lines,
-- each a state (0 known, 1 asked, 2 gave no page) and a URL.

local SPELLINGS = base .. ':spellings'
local MAX_OTHERS = 3
local KNOWN_SPELLING, ASKED_SPELLING, FAILED_SPELLING = '0', '1', '2'

local function spellings_of(key)
  local found = {}
  for state, url in string.gmatch(redis.call('HGET', SPELLINGS, key) or '', '(%d)([^\n]*)\n') do
    found[#found + 1] = {state = state, url = url}
  end
  return found
end

local function save_spellings(key, spellings)
  local lines = {}
  for at, one in ipairs(spellings) do
    lines[at] = one.state .. one.url .. '\n'
  end
  redis.call('HSET', SPELLINGS, key, table.concat(lines))
end

-- The first spelling with a value in a field; nil for none.
local function first_with(field, value, spellings)
  for _, one in ipairs(spellings) do
    if one[field] == value then
      return one
    end
  end
end

local function set_spelling(spellings, url, state)
  local one = first_with('url', url, spellings)
  if one then
    one.state = state
  else
    spellings[#spellings + 1] = {state = state, url = url}
  end
end

-- Remember a spelling of a key that was queued before; say whether it is to be asked now.
local function wants(key, url)
  local spellings = spellings_of(key)
  local has_failed = first_with('state', FAILED_SPELLING, spellings)
  if #spellings >= MAX_OTHERS + (has_failed and 2 or 0) or first_with('url', url, spellings) then
    return false
  end
  local is_wanted = has_failed and not first_with('state', KNOWN_SPELLING, spellings)
    and not first_with('state', ASKED_SPELLING, spellings)
  set_spelling(spellings, url, is_wanted and ASKED_SPELLING or KNOWN_SPELLING)
  save_spellings(key, spellings)
  return is_wanted
end

-- The spelling that is to be asked where some gave no page; it counts as asked from then on.
local function replacement(key, failed, canonical)
  local spellings = spellings_of(key)
  for url in string.gmatch(failed, '[^\n]+') do
    set_spelling(spellings, url, FAILED_SPELLING)
  end
  local url
  if not first_with('state', ASKED_SPELLING, spellings) then
    local known = first_with('url', canonical, spellings)
    if canonical ~= '' and (not known or known.state == KNOWN_SPELLING) then
      url = canonical
    else
      url = (first_with('state', KNOWN_SPELLING, spellings) or {}).url
    end
    if url then
      set_spelling(spellings, url, ASKED_SPELLING)
    end
  end
  save_spellings(key, spellings)
  return url
end

-- The rest of a record: tries, length of the key, key, length of the URL, URL, request.
local function url_in(rest_of_it)
  local start = 3 + string.byte(rest_of_it, 2)
  local length = struct.unpack('>I4', string.sub(rest_of_it, start, start + 3))
  return string.sub(rest_of_it, start + 4, start + 3 + length), start
end

-- The rest of a record without its key, and with another URL where one is given.
local function without_key(rest_of_it, url)
  local old_url, start = url_in(rest_of_it)
  url = url or old_url
  return '\0\0' .. struct.pack('>I4', #url) .. url
    .. string.sub(rest_of_it, start + 4 + #old_url)
end
