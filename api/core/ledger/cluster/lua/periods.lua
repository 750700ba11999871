-- Periods of a key's limit: 00:00 UTC, weeks on Monday, months of the civil calendar.

local function start_of_week(ms)
  local day = math.floor(ms / DAY_MS)
  -- 1970-01-01 was a Thursday.
  return (day - (day + 3) % 7) * DAY_MS
end

-- Days since 1970 of the first of a month, and back: the civil calendar counted in years that begin in March.
local function days_of(year, month)
  if month <= 2 then year = year - 1 end
  local era = math.floor(year / 400)
  local year_of_era = year - era * 400
  local day_of_year = math.floor((153 * ((month + 9) % 12) + 2) / 5)
  local day_of_era = year_of_era * 365 + math.floor(year_of_era / 4) - math.floor(year_of_era / 100) + day_of_year
  return era * 146097 + day_of_era - 719468
end

local function month_of(ms)
  local days = math.floor(ms / DAY_MS) + 719468
  local era = math.floor(days / 146097)
  local day_of_era = days - era * 146097
  local year_of_era = math.floor(
    (day_of_era - math.floor(day_of_era / 1460) + math.floor(day_of_era / 36524) - math.floor(day_of_era / 146096)) / 365)
  local day_of_year = day_of_era - (365 * year_of_era + math.floor(year_of_era / 4) - math.floor(year_of_era / 100))
  local month = (math.floor((5 * day_of_year + 2) / 153) + 2) % 12 + 1
  local year = year_of_era + era * 400
  if month <= 2 then year = year + 1 end
  return year, month
end

local function start_of_month(ms)
  local year, month = month_of(ms)
  return days_of(year, month) * DAY_MS
end

local function start_of_next_month(ms)
  local year, month = month_of(ms)
  if month == 12 then return days_of(year + 1, 1) * DAY_MS end
  return days_of(year, month + 1) * DAY_MS
end

-- A period's sum stands as 'start:amount'; one of an earlier period counts nothing in this one, and neither does one that a
-- wrong clock began. The next charge takes that back into its own period.
local function sum_since(text, start)
  local since, amount = string.match(text or '', '^(%d+):(%d+)$')
  if since == nil or tonumber(since) < start or is_ahead(tonumber(since)) then return 0 end
  return tonumber(amount)
end

local function added(text, start, amount)
  local since, sum = string.match(text or '', '^(%d+):(%d+)$')
  if since == nil or tonumber(since) < start then return whole(start) .. ':' .. whole(amount) end
  if is_ahead(tonumber(since)) then return whole(start) .. ':' .. whole(tonumber(sum) + amount) end
  return since .. ':' .. whole(tonumber(sum) + amount)
end
