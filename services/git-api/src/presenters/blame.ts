import { signatureTime } from '@switchyard/domain/commit'
import { timeText } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { BlamedLinesView } from '../repository-views.js'

export const blameShape = z
  .object({
    commit: z.object({
      id: z.string(),
      parent_ids: z.array(z.string()),
      message: z.string(),
      authored_date: timeText(),
      author_name: z.string(),
      author_email: z.string(),
      committed_date: timeText(),
      committer_name: z.string(),
      committer_email: z.string(),
    }),
    lines: z.array(z.string()).meta({ description: 'Without line breaks' }),
  })
  .meta({ id: 'Blame', description: 'Adjacent lines of a file that the same commit wrote' })

export const presentBlame = ({ commit, lines }: BlamedLinesView): z.output<typeof blameShape> => ({
  commit: {
    id: commit.id,
    parent_ids: commit.parentIds,
    message: commit.message,
    authored_date: signatureTime(commit.author),
    author_name: commit.author.name,
    author_email: commit.author.email,
    committed_date: signatureTime(commit.committer),
    committer_name: commit.committer.name,
    committer_email: commit.committer.email,
  },
  lines,
})
