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
  if (/^\s*\[\s*(?:extensions|include|includeif)\b/im.test(config)) throw new UnknownLayout('extensions')
  if (/^\s*(?:promisor|partialclonefilter)\b/im.test(config)) throw new UnknownLayout('partial clone')
  for (const [, version] of config.matchAll(/^\s*repositoryformatversion\s*=\s*(\S+)/gim))
    if (version !== '0' && version !== '1') throw new UnknownLayout(`repository format ${version}`)
  for (const file of unknownFiles) if (existsSync(join(path, file))) throw new UnknownLayout(file)
}
