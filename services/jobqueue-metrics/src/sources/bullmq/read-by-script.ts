import { createHash } from 'node:crypto'
import { numberOf } from '../age.js'
import type { ReadScript, RedisReader } from '../redis/redis-reader.js'
import { overdueScoreMax } from './latency.js'
import { countOf, type QueueReading, tailLength } from './queue-reading.js'

/**
 * Everything about each queue as lines of one text, which costs a client a fraction of what many answers do. Each
 * command costs the server, so one question tells how many of a queue's keys there are, and none is asked for when
 * all have been found.
 * Of the priorities it looks at the oldest job of each, up to a limit; the last job of all is there as well.
 * Ids that BullMQ gives count up: where the last job of a list has a lower one than the job before it, it came first,
 * and unless it was delayed or tried before, it is the one that waits longest.
 * Arguments are texts and zeros nothing, because the server takes long to write a number down.
 */
const lua = `
local call, find, concat = redis.call, string.find, table.concat
local overdueMax, tail, wantsEnded = ARGV[1], '-' .. ARGV[2], ARGV[3] == '1'
local function unlessZero(count)
  return count > 0 and count or ''
end
local function timesOf(id, base)
  return call('HMGET', base .. id, 'timestamp', 'processedOn', 'opts')
end
local function wasDelayed(times)
  return times[3] and find(times[3], '"delay"', 1, true)
end
local function add(out, times)
  local count = #out
  out[count + 1], out[count + 2], out[count + 3] = times[1] or '', times[2] or '', wasDelayed(times) and times[3] or ''
end
local function addTail(out, list, base)
  local ids = call('LRANGE', list, '-2', '-1')
  local last, before = tonumber(ids[#ids]), tonumber(ids[#ids - 1])
  if last and (#ids == 1 or before and last < before) then
    local times = timesOf(ids[#ids], base)
    add(out, times)
    if times[1] and not times[2] and not wasDelayed(times) then return end
  end
  for _, id in ipairs(call('LRANGE', list, tail, '-1')) do add(out, timesOf(id, base)) end
end
local function addPriorities(out, list, base)
  local min = '-inf'
  for _ = 1, 16 do
    local first = call('ZRANGEBYSCORE', list, min, '+inf', 'WITHSCORES', 'LIMIT', '0', '1')
    if not first[1] then break end
    add(out, timesOf(first[1], base))
    min = string.format('%.0f', (math.floor(tonumber(first[2]) / 4294967296) + 1) * 4294967296)
  end
  add(out, timesOf(call('ZRANGE', list, '-1', '-1')[1], base))
end
local function rarer(out, base, left)
  local paused, prioritized, delayed = base .. 'paused', base .. 'prioritized', base .. 'delayed'
  local jobs, priorities, delays = 0, 0, 0
  if left > 0 then
    jobs, priorities, delays = call('LLEN', paused), call('ZCARD', prioritized), call('ZCARD', delayed)
  end
  local rare = { jobs, priorities, delays, 0, '', '', '' }
  if delays > 0 then
    rare[4] = call('ZCOUNT', delayed, '-inf', overdueMax)
    if rare[4] > 0 then
      rare[5] = call('ZRANGEBYSCORE', delayed, '-inf', overdueMax, 'WITHSCORES', 'LIMIT', '0', '1')[2]
    end
  end
  if wantsEnded then
    out[4] = unlessZero(call('ZCARD', base .. 'completed'))
    rare[6] = call('HGET', base .. 'metrics:completed', 'count') or ''
    rare[7] = call('HGET', base .. 'metrics:failed', 'count') or ''
  end
  out[6] = concat(rare, ' ')
  if jobs > 0 then addTail(out, paused, base) end
  if priorities > 0 then addPriorities(out, prioritized, base) end
end
local function read(base)
  local wait, active, failed = base .. 'wait', base .. 'active', base .. 'failed'
  local left = call('EXISTS', wait, active, failed, base .. 'paused', base .. 'prioritized', base .. 'delayed')
  local out = { '', '', '', '', call('HGET', base .. 'meta', 'paused') or '', '' }
  if left > 0 then
    local waiting = call('LLEN', wait)
    if waiting > 0 then
      out[1], left = waiting, left - 1
      addTail(out, wait, base)
    end
  end
  if left > 0 then
    local running, dead = call('LLEN', active), call('ZCARD', failed)
    if running > 0 then out[2], left = running, left - 1 end
    if dead > 0 then out[3], left = dead, left - 1 end
  end
  if left > 0 or wantsEnded then rarer(out, base, left) end
  return concat(out, '\\n')
end
local texts = {}
for index, base in ipairs(KEYS) do texts[index] = read(base) end
return texts
`

const script: ReadScript = { lua, sha: createHash('sha1').update(lua).digest('hex'), keysMax: 50 }

const countLines = 6

function readingOf(text: string): QueueReading {
  const lines = text.split('\n')
  const [waiting, active, failed, completed, isPaused, rare = ''] = lines
  const [pausedJobs, prioritized, delayed, overdue, overdueScore, metricsCompleted, metricsFailed] =
    rare === '' ? [] : rare.split(' ')
  const candidates = []
  for (let line = countLines; line < lines.length; line += 3) {
    candidates.push({
      timestamp: lines[line] || null,
      processedOn: lines[line + 1] || null,
      opts: lines[line + 2] || null,
    })
  }
  return {
    waiting: countOf(waiting),
    pausedJobs: countOf(pausedJobs),
    prioritized: countOf(prioritized),
    overdue: countOf(overdue),
    delayed: countOf(delayed),
    active: countOf(active),
    failed: countOf(failed),
    completed: countOf(completed),
    isPaused: isPaused !== '',
    metricsCompleted: numberOf(metricsCompleted),
    metricsFailed: numberOf(metricsFailed),
    overdueScore: numberOf(overdueScore),
    candidates,
  }
}

/**
 * Reads queues in one round trip, with a script that the server keeps from writing. Null where scripts cannot be
 * run: Redis before 7, a user without the right, a cluster.
 *
 * @param bases first part of the keys of each queue, with its colon
 * @param wantsEnded whether jobs that came to an end are counted; zeros without
 */
export async function readByScript<Answer>(
  redis: RedisReader,
  bases: string[],
  nowMs: number,
  wantsEnded: boolean,
  understand: (reading: QueueReading, index: number) => Answer,
): Promise<Answer[] | null> {
  const overdueMax = String(overdueScoreMax(nowMs))
  return await redis.readByScript(
    script,
    bases,
    [overdueMax, tailLength, wantsEnded ? '1' : '0'],
    (text, index) => understand(readingOf(String(text)), index),
  )
}
