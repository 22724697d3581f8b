import { createHash } from 'node:crypto'
import { numberOf } from '../age.js'
import type { ReadScript, RedisReader } from '../redis/redis-reader.js'
import { overdueScoreMax } from './latency.js'
import { countOf, type QueueReading, tailLength } from './queue-reading.js'

/**
 * Everything about each queue as lines of one text, which costs a client a fraction of what many answers do.
 * Of the priorities it looks at the oldest job of each, up to a limit; the last job of all is there as well.
 */
const lua = `
local overdueMax, tail = ARGV[1], tonumber(ARGV[2])
local function read(base)
  local out = {
    redis.call('LLEN', base .. 'wait'), redis.call('LLEN', base .. 'paused'),
    redis.call('ZCARD', base .. 'prioritized'),
    redis.call('ZCOUNT', base .. 'delayed', '-inf', overdueMax), redis.call('ZCARD', base .. 'delayed'),
    redis.call('LLEN', base .. 'active'),
    redis.call('ZCARD', base .. 'failed'), redis.call('ZCARD', base .. 'completed'),
    redis.call('HGET', base .. 'meta', 'paused') or '',
    redis.call('HGET', base .. 'metrics:completed', 'count') or '',
    redis.call('HGET', base .. 'metrics:failed', 'count') or '',
    ''
  }
  if out[4] > 0 then
    out[12] = redis.call('ZRANGEBYSCORE', base .. 'delayed', '-inf', overdueMax, 'WITHSCORES', 'LIMIT', 0, 1)[2]
  end
  local function add(id)
    local times = redis.call('HMGET', base .. id, 'timestamp', 'processedOn', 'opts')
    for i = 1, 3 do out[#out + 1] = times[i] or '' end
  end
  for _, list in ipairs({ 'wait', 'paused' }) do
    for _, id in ipairs(redis.call('LRANGE', base .. list, -tail, -1)) do add(id) end
  end
  if out[3] > 0 then
    local min = '-inf'
    for _ = 1, 16 do
      local first = redis.call('ZRANGEBYSCORE', base .. 'prioritized', min, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
      if not first[1] then break end
      add(first[1])
      min = string.format('%.0f', (math.floor(tonumber(first[2]) / 4294967296) + 1) * 4294967296)
    end
    add(redis.call('ZRANGE', base .. 'prioritized', -1, -1)[1])
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
