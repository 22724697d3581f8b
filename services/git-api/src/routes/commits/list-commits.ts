import { endpoint, flag, pageParameters, pageReply, rowsOf, text, time } from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall } from '../../guards.js'
import { commitShape, presentCommit, presentStats } from '../../presenters/commit.js'
import * as commits from '../../use-cases/read-commits.js'
import { optional, optionalText } from '../../wire/parameters.js'
import { cachedReply } from './cached-reply.js'

export const listCommits = endpoint({
  summary: 'Commits, the newest first',
  replies: { 200: z.array(commitShape) },
  refusals: [413],
  input: z.object({
    ...pageParameters,
    ref_name: optionalText(text()),
    since: optional(time()),
    until: optional(time()),
    path: optionalText(text()),
    author: optionalText(text()),
    all: flag().default(false),
    first_parent: flag().default(false),
    order: z.enum(['default', 'topo']).default('default'),
    with_stats: flag().default(false),
  }),
  handle(given, access: ProjectCall, call) {
    const query = {
      refName: given.ref_name,
      all: given.all,
      since: given.since,
      until: given.until,
      // The path `/` means the whole repository.
      path: given.path?.replace(/^\/+/, '') || undefined,
      author: given.author,
      firstParent: given.first_parent,
      topological: given.order === 'topo',
      withStats: given.with_stats,
      ...rowsOf(given),
    }
    const reply = ({ commits, total, stats }: commits.CommitPage) => {
      const items = commits.map((commit) => ({
        ...presentCommit(commit, access.project, call.baseUrl),
        ...(stats && presentStats(stats.get(commit.id) ?? null)),
      }))
      return pageReply(items, given, total, call)
    }
    return commits.listCommits(access, query, cachedReply(given, access, call, reply))
  },
})
