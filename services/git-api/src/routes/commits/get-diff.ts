import type { DiffEntry } from '@switchyard/git-storage'
import { endpoint, flag, ok, pageParameters, pageReply, rowsOf, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall } from '../../guards.js'
import { diffEntryShape, presentDiffEntry } from '../../presenters/diff.js'
import { readDiff } from '../../use-cases/read-commits.js'
import { cachedReply } from './cached-reply.js'

export const getDiff = endpoint({
  summary: 'What a commit changed',
  replies: { 200: z.array(diffEntryShape) },
  refusals: [413],
  headers: {
    Link: 'Other pages, when pages were asked for',
    'X-Total': 'Files in the diff, when pages were asked for',
  },
  input: z.object({ ...pageParameters, sha: text(), unidiff: flag().default(false) }),
  handle(query, access: ProjectCall, call) {
    const present = (entry: DiffEntry) => presentDiffEntry(entry, query.unidiff)
    const reply = (entries: readonly DiffEntry[]) => {
      // Without parameters of a page, the answer has the whole diff.
      const given = call.raw.request.query
      if (given.page === undefined && given.per_page === undefined) return ok(entries.map(present))
      const { skip, take } = rowsOf(query)
      return pageReply(entries.slice(skip, skip + take).map(present), query, entries.length, call)
    }
    return readDiff(access, query.sha, cachedReply(query, access, call, reply))
  },
})
