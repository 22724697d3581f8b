import type { Project } from '@switchyard/db'
import { invalid } from '@switchyard/domain'
import type { Commit } from '@switchyard/domain/commit'
import type { Repository } from '@switchyard/git-storage'
import {
  type Call,
  endpoint,
  flag,
  pageParameters,
  pageReply,
  rowsOf,
  text,
  time,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { commitShape, presentCommit, presentStats } from '../../presenters/commit.js'
import { optional, optionalText } from '../optional.js'
import { type KeepableReply, keptReply } from './kept-reply.js'

const input = z.object({
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
})

export const listCommits = ({ git }: Pick<Dependencies, 'git'>) =>
  endpoint({
    summary: 'Commits, the newest first',
    replies: { 200: z.array(commitShape) },
    refusals: [413],
    input,
    async handle(query, access: ProjectCall, call) {
      const { project } = access
      const revision = query.ref_name ?? `refs/heads/${project.defaultBranch}`
      if (revision.startsWith('-') || /\s/.test(revision)) throw invalid('ref_name is invalid')
      const repository = git.open(project, call)
      const tip = query.all ? null : await repository.findCommit(revision)
      if (!tip && !query.all) return pageReply([], query, 0, call)
      const list = () => page(repository, tip ?? revision, query, project, call)
      return tip ? keptReply(repository, tip.id, query, access, call, list) : list()
    },
  })

async function page(
  repository: Repository,
  revision: string | Commit,
  query: z.output<typeof input>,
  project: Project,
  call: Call,
): Promise<KeepableReply> {
  const { commits, total } = await repository.listCommits({
    revision,
    all: query.all,
    since: query.since,
    until: query.until,
    // What is left of a lone slash is the whole repository.
    path: query.path?.replace(/^\/+/, '') || undefined,
    author: query.author,
    firstParent: query.first_parent,
    topological: query.order === 'topo',
    ...rowsOf(query),
  })
  const stats = query.with_stats ? await repository.readStats(commits.map(({ id }) => id)) : null
  const items = commits.map((commit) => ({
    ...presentCommit(commit, project, call.baseUrl),
    ...(stats && presentStats(stats.get(commit.id) ?? null)),
  }))
  const reply = pageReply(items, query, total, call)
  return { ...reply, uncacheable: stats !== null && commits.some(({ id }) => !stats.has(id)) }
}
