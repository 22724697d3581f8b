import { compileWildcard } from '../wildcard.js'

/**
 * Compiles a search over names of branches or tags, as GitLab reads it: a part of the name, in upper or lower case. `^x`
 * matches names that begin with x, `x$` those that end with x, and `*` any characters.
 *
 * @returns `matches`, and `isExact`: whether the name is the whole search text, in upper or lower case
 */
export function compileNameSearch(search: string) {
  const text = search.toLowerCase()
  const begins = text.startsWith('^')
  const ends = text.length > 1 && text.endsWith('$')
  const part = text.slice(begins ? 1 : 0, ends ? -1 : undefined)
  const matches = compileWildcard(`${begins ? '' : '*'}${part}${ends ? '' : '*'}`)
  return {
    matches: (name: string) => matches(name.toLowerCase()),
    isExact: (name: string) => name.toLowerCase() === text,
  }
}
