import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Something about a repository that the reader in here does not know; git itself does. */
export class UnknownLayout extends Error {
  constructor(what: string) {
    super(what)
    this.name = 'UnknownLayout'
  }
}

/** Files that make history or objects other than what the repository itself holds. */
const unknownFiles = ['commondir', 'shallow', 'info/grafts', 'objects/info/alternates']

/**
 * Refuses what the reader does not understand: other hashes, reference tables, objects in other places,
 * partial clones, cut-off histories, and every extension.
 *
 * @throws UnknownLayout
 */
export function requireKnownLayout(path: string): void {
  const config = readFileSync(join(path, 'config'), 'utf8')
  for (const line of config.split('\n').map((text) => text.trim())) {
    if (/^\[\s*(?:extensions|include|includeif)\b/i.test(line)) throw new UnknownLayout('extensions')
    if (/^(?:promisor|partialclonefilter)\b/i.test(line)) throw new UnknownLayout('partial clone')
    const version = /^repositoryformatversion\s*=\s*(\S+)/i.exec(line)?.[1] ?? '0'
    if (version !== '0' && version !== '1') throw new UnknownLayout(`repository format ${version}`)
  }
  for (const file of unknownFiles) if (existsSync(join(path, file))) throw new UnknownLayout(file)
}
