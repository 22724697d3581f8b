import type { DiffEntry } from '@switchyard/git-storage'
import { endpoint, flag, ok, pageParameters, pageReply, rowsOf, text } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { diffEntryShape, presentDiffEntry } from '../../presenters/diff.js'
import { getCommitId } from '../../use-cases/get-commit.js'
import { keptReply } from './kept-reply.js'

export const getDiff = ({ git }: Pick<Dependencies, 'git'>) =>
  endpoint({
    summary: 'What a commit changed',
    replies: { 200: z.array(diffEntryShape) },
    refusals: [413],
    headers: {
      Link: 'Other pages, when pages were asked for',
      'X-Total': 'Files in the diff, when pages were asked for',
    },
    input: z.object({ ...pageParameters, sha: text(), unidiff: flag().default(false) }),
    async handle(query, access: ProjectCall, call) {
      const repository = git.open(access.project, call)
      const id = await getCommitId(repository, query.sha)
      return keptReply(repository, id, query, access, call, async () => {
        const entries = await repository.readDiff(id)
        const present = (entry: DiffEntry) => presentDiffEntry(entry, query.unidiff)
        // Whoever does not ask for pages gets everything.
        const given = call.raw.request.query
        if (given.page === undefined && given.per_page === undefined) return ok(entries.map(present))
        const { skip, take } = rowsOf(query)
        return pageReply(entries.slice(skip, skip + take).map(present), query, entries.length, call)
      })
    },
  })
