import {
  endpoint,
  flag,
  keysetParameters,
  keysetReply,
  ok,
  pageParameters,
  pageReply,
  pathCharsMax,
  text,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall } from '../../guards.js'
import { presentTreeEntry, treeEntryShape } from '../../presenters/tree-entry.js'
import { listTree as findEntries } from '../../use-cases/list-tree.js'
import { optionalText, windowOf } from '../../wire/parameters.js'

const input = z.object({
  ...pageParameters,
  ref: optionalText(text()),
  path: text(pathCharsMax).default(''),
  recursive: flag().default(false),
  ...keysetParameters,
  pagination: z.enum(['legacy', 'keyset', 'none']).default('legacy').meta({
    description:
      '`keyset`: the page begins after the entry that `page_token` names; `none`: every entry in one answer',
  }),
})

/** `GET /projects/:id/repository/tree` */
export const listTree = endpoint({
  summary: 'Files and folders',
  replies: { 200: z.array(treeEntryShape) },
  refusals: [413],
  input,
  async handle({ ref, path, recursive, pagination, page_token, ...page }, access: ProjectCall, call) {
    const window = pagination === 'none' ? undefined : windowOf(pagination, page_token, page)
    const query = { revision: ref, path, isRecursive: recursive, window }
    const { entries, total, next } = await findEntries(access, query)
    const items = entries.map(presentTreeEntry)
    if (pagination === 'keyset') return keysetReply(items, next, call)
    return window ? pageReply(items, page, total, call) : ok(items)
  },
})
