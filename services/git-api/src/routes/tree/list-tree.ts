import { endpoint, flag, ok, pageParameters, pageReply, rowsOf, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall } from '../../guards.js'
import { presentTreeEntry, treeEntryShape } from '../../presenters/tree-entry.js'
import { listTree as findEntries } from '../../use-cases/list-tree.js'
import { optionalText } from '../../wire/parameters.js'

const input = z.object({
  ...pageParameters,
  ref: optionalText(text()),
  path: text().default(''),
  recursive: flag().default(false),
  pagination: z
    .enum(['legacy', 'none'])
    .default('legacy')
    .meta({ description: '`none`: every entry in one answer' }),
})

/** `GET /projects/:id/repository/tree` */
export const listTree = endpoint({
  summary: 'Files and folders',
  replies: { 200: z.array(treeEntryShape) },
  refusals: [413],
  input,
  async handle({ ref, path, recursive, pagination, ...page }, access: ProjectCall, call) {
    const rows = pagination === 'none' ? undefined : rowsOf(page)
    const query = { revision: ref, path, isRecursive: recursive, rows }
    const { entries, total } = await findEntries(access, query)
    const items = entries.map(presentTreeEntry)
    return rows ? pageReply(items, page, total, call) : ok(items)
  },
})
