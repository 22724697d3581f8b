import { createHash } from 'node:crypto'
import type { ReadCommand, ReadScript } from './redis-reader.js'

/** Sends one command for each of its keys, which costs a client a fraction of what as many commands do. */
const lua = `
local answers = {}
for index, key in ipairs(KEYS) do answers[index] = redis.call(ARGV[1], key, unpack(ARGV, 2)) end
return answers
`

export const askAlike: ReadScript = { lua, sha: createHash('sha1').update(lua).digest('hex'), keysMax: 50 }

/** Fewer commands of a kind are sent as they are. */
const keysMin = 10

/** Commands in the order of `places` within the list they came from. */
export interface Alike {
  keys: string[]
  /** What is asked of each key: name of the command, then what follows the key. */
  question: (string | number)[]
  places: number[]
}

/** Puts commands together that differ in their key only; the others stay alone. */
export function gatherAlike(commands: readonly ReadCommand[]): Alike[] {
  const kinds = new Map<string, Alike>()
  commands.forEach(([name, key, ...rest], place) => {
    const question = [name, ...rest]
    const id = question.join(' ')
    const kind = kinds.get(id) ?? { keys: [], question, places: [] }
    kind.keys.push(key)
    kind.places.push(place)
    kinds.set(id, kind)
  })
  return [...kinds.values()].flatMap((kind) =>
    partsOf(kind, kind.keys.length < keysMin ? 1 : askAlike.keysMax),
  )
}

function partsOf({ keys, question, places }: Alike, length: number): Alike[] {
  const parts: Alike[] = []
  for (let start = 0; start < keys.length; start += length) {
    const end = start + length
    parts.push({ keys: keys.slice(start, end), question, places: places.slice(start, end) })
  }
  return parts
}
