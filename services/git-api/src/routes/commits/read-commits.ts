import type { DiffEntry } from '@switchyard/git-storage'
import {
  type Call,
  endpoint,
  flag,
  ok,
  pageParameters,
  pageReply,
  pathCharsMax,
  type Reply,
  rowsOf,
  text,
  time,
  WrittenJson,
  writeJson,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import {
  commitDetailShape,
  commitShape,
  presentCommit,
  presentCommitDetail,
  presentStats,
} from '../../presenters/commit.js'
import { diffEntryShape, presentDiffEntry } from '../../presenters/diff.js'
import * as commits from '../../use-cases/read-commits.js'
import { diffParameters } from '../../wire/diff-parameters.js'
import { optional, optionalText } from '../../wire/parameters.js'

export const listCommits = endpoint({
  summary: 'Commits, the newest first',
  replies: { 200: z.array(commitShape) },
  refusals: [413],
  input: z.object({
    ...pageParameters,
    ref_name: optionalText(text()),
    since: optional(time()),
    until: optional(time()),
    path: optionalText(text(pathCharsMax)),
    author: optionalText(text()),
    search: optionalText(text()).meta({ description: 'Part of the message, in upper or lower case' }),
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
      message: given.search,
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

export const getCommit = (deps: Dependencies) =>
  endpoint({
    summary: 'One commit',
    replies: { 200: commitDetailShape },
    input: z.object({ sha: text(), stats: flag().default(true) }),
    async handle({ sha, stats }, access: ProjectCall, call) {
      const commit = await commits.showCommit(deps, access, sha, stats)
      return ok(presentCommitDetail(commit, access.project, call.baseUrl))
    },
  })

export const getDiff = endpoint({
  summary: 'What a commit changed',
  replies: { 200: z.array(diffEntryShape) },
  refusals: [413],
  headers: {
    Link: 'Other pages, when the request names a page',
    'X-Total': 'Files in the diff, when the request names a page',
  },
  input: z.object({ ...pageParameters, ...diffParameters, sha: text() }),
  handle(query, access: ProjectCall, call) {
    const present = (entry: DiffEntry) => presentDiffEntry(entry, query.unidiff)
    const reply = (entries: readonly DiffEntry[]) => {
      // Without parameters of a page, the answer has the whole diff.
      const given = call.raw.request.query
      if (given.page === undefined && given.per_page === undefined) return ok(entries.map(present))
      const { skip, take } = rowsOf(query)
      return pageReply(entries.slice(skip, skip + take).map(present), query, entries.length, call)
    }
    const { sha: revision, path, stat: withCounts } = query
    return commits.readDiff(access, { revision, path, withCounts }, cachedReply(query, access, call, reply))
  },
})

/** Memory of the headers of a reply, and of the objects around them. */
const headersBytes = 2_000

/**
 * A reply whose body is written as JSON once and then cached.
 *
 * @param query the parameters as they were read: some of them may come from a body
 */
const cachedReply = <Result>(
  query: object,
  { project }: ProjectCall,
  call: Call,
  reply: (result: Result) => Reply,
): commits.CachedAnswer<Result, Reply> => ({
  key: `${project.pathWithNamespace} ${call.baseUrl} ${call.raw.request.originalUrl} ${JSON.stringify(query)}`,
  async make(result) {
    const made = reply(result)
    return { ...made, body: await writeJson(made.body) }
  },
  bytesOf: ({ body }) => headersBytes + (body instanceof WrittenJson ? body.bytes : 0),
})
