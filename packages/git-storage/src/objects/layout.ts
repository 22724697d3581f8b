import { access, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The local reader does not support the form of a repository, a file or an object; git reads it instead. */
export class UnknownLayout extends Error {
  /** @param reason one of a fixed set of texts, which is a label of a metric */
  constructor(reason: string) {
    super(reason)
    this.name = 'UnknownLayout'
  }
}

/** Files that change which history or which objects a repository has. */
const unknownFiles = ['commondir', 'shallow', 'info/grafts', 'objects/info/alternates']

/**
 * Refuses repositories that the local reader does not support: other hash functions, reference tables, objects in
 * other folders, partial clones, shallow histories, and every extension.
 *
 * @throws UnknownLayout
 */
export async function requireKnownLayout(path: string): Promise<void> {
  const config = await readFile(join(path, 'config'), 'utf8')
  for (const line of config.split('\n').map((text) => text.trim())) {
    if (/^\[\s*(?:extensions|include|includeif)\b/i.test(line)) throw new UnknownLayout('extensions')
    if (/^(?:promisor|partialclonefilter)\b/i.test(line)) throw new UnknownLayout('partial clone')
    const version = /^repositoryformatversion\s*=\s*(\S+)/i.exec(line)?.[1] ?? '0'
    if (version !== '0' && version !== '1') throw new UnknownLayout('repository format')
  }
  const found = await Promise.all(unknownFiles.map((file) => exists(join(path, file))))
  if (found.includes(true)) throw new UnknownLayout('history or objects in other files')
}

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  )
