import { endpoint, flag, ok, pageParameters, pageReply, rowsOf, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { diffEntryShape, presentDiffEntry } from '../../presenters/diff.js'
import { getCommit } from '../../use-cases/get-commit.js'

export const getDiff = ({ git }: Pick<Dependencies, 'git'>) =>
  endpoint({
    summary: 'What a commit changed',
    replies: { 200: z.array(diffEntryShape) },
    headers: {
      Link: 'Other pages, when pages were asked for',
      'X-Total': 'Files in the diff, when pages were asked for',
    },
    input: z.object({ ...pageParameters, sha: text(), unidiff: flag().default(false) }),
    async handle({ sha, unidiff, ...page }, { project }: ProjectCall, call) {
      const repository = git.open(project, call.signal)
      const { id } = await getCommit(repository, sha)
      const entries = await repository.readDiff(id)
      // Whoever does not ask for pages gets everything.
      const { query } = call.raw.request
      if (query.page === undefined && query.per_page === undefined) {
        return ok(entries.map((entry) => presentDiffEntry(entry, unidiff)))
      }
      const { skip, take } = rowsOf(page)
      const items = entries.slice(skip, skip + take).map((entry) => presentDiffEntry(entry, unidiff))
      return pageReply(items, page, entries.length, call)
    },
  })
