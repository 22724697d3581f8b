import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { decode, encode } from '@jridgewell/sourcemap-codec'

/**
 * Removes the code of libraries from the source maps of a folder. Node keeps the maps of a program in memory
 * from its first error on, and those of the libraries take 50 MB.
 */
export function keepOwnSourceMaps(folder) {
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.map'))) {
    const path = join(folder, file)
    const map = JSON.parse(readFileSync(path, 'utf8'))
    const isOwn = map.sources.map((source) => !source.includes('/node_modules/'))
    const mappings = encode(decode(map.mappings).map((line) => withoutLibraries(line, isOwn)))
    writeFileSync(path, JSON.stringify({ ...map, mappings }))
  }
}

/**
 * Removes the mappings of libraries from a line. At the start of a library's code, the line states that the
 * following code has no source.
 */
function withoutLibraries(line, isOwn) {
  const kept = []
  for (const segment of line) {
    if (segment.length > 1 && isOwn[segment[1]]) kept.push(segment)
    else if (kept.at(-1)?.length !== 1) kept.push([segment[0]])
  }
  return kept
}
