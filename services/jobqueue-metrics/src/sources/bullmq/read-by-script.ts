import { createHash } from 'node:crypto'
import { numberOf } from '../age.js'
import type { ReadScript, RedisReader } from '../redis/redis-reader.js'
import { overdueScoreMax } from './latency.js'
import { countOf, type QueueReading, tailLength } from './queue-reading.js'

/**
 * Everything about each queue as lines of one text, which costs a client a fraction of what many answers do. Each
 * command costs the server, so what most queues do not have is asked for by one question first.
 * Of the priorities it looks at the oldest job of each, up to a limit; the last job of all is there as well.
 * Ids that BullMQ gives count up: where they do from the end of a list on, its last job came first, and unless that
 * one was delayed or tried before, it is the one that waits longest.
 */
const lua = `
local overdueMax, tail = ARGV[1], tonumber(ARGV[2])
local function timesOf(id, base)
  local times = redis.call('HMGET', base .. id, 'timestamp', 'processedOn', 'opts')
  local opts = times[3] and string.find(times[3], '"delay"', 1, true) and times[3]
  return times[1] or '', times[2] or '', opts or ''
end
local function countUp(ids)
  local last = 0
  for i = #ids, 1, -1 do
    local id = tonumber(ids[i])
    if not id or id <= last then return false end
    last = id
  end
  return true
end
local function read(base)
  local out = {
    redis.call('LLEN', base .. 'wait'), 0, 0, 0, 0, redis.call('LLEN', base .. 'active'),
    redis.call('ZCARD', base .. 'failed'), redis.call('ZCARD', base .. 'completed'),
    redis.call('HGET', base .. 'meta', 'paused') or '', '', '', ''
  }
  local function add(created, processed, opts)
    out[#out + 1] = created
    out[#out + 1] = processed
    out[#out + 1] = opts
  end
  local function addTail(list)
    local ids = redis.call('LRANGE', base .. list, -tail, -1)
    local from = 1
    if countUp(ids) then
      local created, processed, opts = timesOf(ids[#ids], base)
      add(created, processed, opts)
      if created ~= '' and processed == '' and opts == '' then return end
      from = 2
    end
    for i = #ids - from + 1, 1, -1 do add(timesOf(ids[i], base)) end
  end
  if out[1] > 0 then addTail('wait') end
  local others = redis.call('EXISTS', base .. 'paused', base .. 'prioritized', base .. 'delayed',
    base .. 'metrics:completed', base .. 'metrics:failed')
  if others == 0 then return table.concat(out, '\\n') end

  out[2] = redis.call('LLEN', base .. 'paused')
  out[3] = redis.call('ZCARD', base .. 'prioritized')
  out[4] = redis.call('ZCOUNT', base .. 'delayed', '-inf', overdueMax)
  out[5] = redis.call('ZCARD', base .. 'delayed')
  out[10] = redis.call('HGET', base .. 'metrics:completed', 'count') or ''
  out[11] = redis.call('HGET', base .. 'metrics:failed', 'count') or ''
  if out[4] > 0 then
    out[12] = redis.call('ZRANGEBYSCORE', base .. 'delayed', '-inf', overdueMax, 'WITHSCORES', 'LIMIT', 0, 1)[2]
  end
  if out[2] > 0 then addTail('paused') end
  if out[3] > 0 then
    local min = '-inf'
    for _ = 1, 16 do
      local first = redis.call('ZRANGEBYSCORE', base .. 'prioritized', min, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
      if not first[1] then break end
      add(timesOf(first[1], base))
      min = string.format('%.0f', (math.floor(tonumber(first[2]) / 4294967296) + 1) * 4294967296)
    end
    add(timesOf(redis.call('ZRANGE', base .. 'prioritized', -1, -1)[1], base))
  end
  return table.concat(out, '\\n')
end
local texts = {}
for index, base in ipairs(KEYS) do texts[index] = read(base) end
return texts
`

const script: ReadScript = { lua, sha: createHash('sha1').update(lua).digest('hex'), keysMax: 20 }

const countLines = 12

function readingOf(text: string): QueueReading {
  const lines = text.split('\n')
  const [waiting, pausedJobs, prioritized, overdue, delayed, active, failed, completed, isPaused, ...rest] =
    lines
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
    metricsCompleted: numberOf(rest[0]),
    metricsFailed: numberOf(rest[1]),
    overdueScore: numberOf(rest[2]),
    candidates,
  }
}

/**
 * Reads queues in one round trip, with a script that the server keeps from writing. Null where scripts cannot be
 * run: Redis before 7, a user without the right, a cluster.
 *
 * @param bases first part of the keys of each queue, with its colon
 */
export async function readByScript(
  redis: RedisReader,
  bases: string[],
  nowMs: number,
): Promise<QueueReading[] | null> {
  const answers = await redis.readByScript(script, bases, [String(overdueScoreMax(nowMs)), tailLength])
  return answers?.map((answer) => readingOf(String(answer))) ?? null
}
