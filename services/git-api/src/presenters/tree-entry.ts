import type { FolderEntry } from '@switchyard/git-storage'
import { z } from 'zod'

export const treeEntryShape = z
  .object({
    id: z.string(),
    name: z.string(),
    type: z.enum(['tree', 'blob', 'commit']),
    path: z.string(),
    mode: z.string(),
  })
  .meta({
    id: 'TreeEntry',
    description:
      'A folder, a file, or a submodule, whose id is that of its commit. Names that are not UTF-8 are quoted',
  })

/** An entry of a folder in GitLab's shape. */
export const presentTreeEntry = ({ id, type, path, mode }: FolderEntry): z.output<typeof treeEntryShape> => ({
  id,
  name: baseName(path),
  type,
  path,
  mode,
})

/** The part of a path behind its last slash; the name of a quoted path is quoted, too. */
export function baseName(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return path.startsWith('"') && path.endsWith('"') && path.includes('/') && path.includes('\\')
    ? `"${name}`
    : name
}
