import type { FolderEntry } from '@switchyard/git-storage'
import { z } from 'zod'
import { baseName } from './base-name.js'

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
