import type { DiffEntry } from '@switchyard/git-storage/diffs'
import {
  type Call,
  endpoint,
  flag,
  ok,
  pageParameters,
  pageReply,
  pathCharsMax,
  type Reply,
  type Route,
  route,
  rowsOf,
  text,
  time,
  WrittenJson,
  writeJson,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall } from '../../guards.js'
import {
  commitDetailShape,
  commitShape,
  diffEntryShape,
  presentCommit,
  presentCommitDetail,
  presentDiffEntry,
  presentSignature,
  presentStats,
  signatureShape,
} from '../../shapes/commit.js'
import { diffParameters, optional, optionalText } from '../../shapes/parameters.js'
import type { CachedAnswer, CommitPage } from './commit-reading.js'
import * as commitReading from './commit-reading.js'
import type { CommitDependencies, CommitStateLookup } from './commits.js'
import * as commits from './commits.js'

export function commitReadRoutes({ guards, statusLookup }: CommitDependencies): Route[] {
  const { readCode } = guards
  const path = '/projects/:id/repository/commits'
  return [
    route('GET', path, readCode, listCommits),
    route('GET', `${path}/:sha`, readCode, getCommit(statusLookup)),
    route('GET', `${path}/:sha/diff`, readCode, getDiff),
    route('GET', `${path}/:sha/refs`, readCode, listCommitReferences),
    route('GET', `${path}/:sha/sequence`, readCode, getSequence),
    route('GET', `${path}/:sha/signature`, readCode, getSignature),
    route('GET', `${path}/:sha/merge_requests`, readCode, listMergeRequests),
    route('GET', '/projects/:id/repository/contributors', readCode, listContributors),
  ]
}

const listCommits = endpoint({
  summary: 'List commits, newest first',
  replies: { 200: z.array(commitShape) },
  refusals: [413],
  input: z.object({
    ...pageParameters,
    ref_name: optionalText(text()),
    since: optional(time()),
    until: optional(time()),
    path: optionalText(text(pathCharsMax)),
    author: optionalText(text()),
    search: optionalText(text()).meta({ description: 'Part of the message, case-insensitive' }),
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
    const reply = ({ commits, total, stats }: CommitPage) => {
      const items = commits.map((commit) => ({
        ...presentCommit(commit, access.project, call.baseUrl),
        ...(stats && presentStats(stats.get(commit.id) ?? null)),
      }))
      return pageReply(items, given, total, call)
    }
    return commitReading.answerCommits(access, query, cachedReply(given, access, call, reply))
  },
})

const getCommit = (statusLookup: CommitStateLookup) =>
  endpoint({
    summary: 'Get a commit',
    replies: { 200: commitDetailShape },
    input: z.object({ sha: text(), stats: flag().default(true) }),
    async handle({ sha, stats }, access: ProjectCall, call) {
      const commit = await commitReading.showCommit(statusLookup, access, sha, stats)
      return ok(presentCommitDetail(commit, access.project, call.baseUrl))
    },
  })

const getDiff = endpoint({
  summary: 'Get the diff of a commit',
  replies: { 200: z.array(diffEntryShape) },
  refusals: [413],
  headers: {
    Link: 'Other pages, when the request names a page',
    'X-Total': 'Number of files in the diff, when the request names a page',
  },
  input: z.object({ ...pageParameters, ...diffParameters, sha: text() }),
  handle(query, access: ProjectCall, call) {
    const present = (entry: DiffEntry) => presentDiffEntry(entry, query.unidiff)
    const reply = (entries: readonly DiffEntry[]) => {
      // Without paging parameters, the answer has the whole diff.
      const given = call.raw.request.query
      if (given.page === undefined && given.per_page === undefined) return ok(entries.map(present))
      const { skip, take } = rowsOf(query)
      return pageReply(entries.slice(skip, skip + take).map(present), query, entries.length, call)
    }
    const { sha: revision, path, stat: withCounts } = query
    return commitReading.readCommitDiff(
      access,
      { revision, path, withCounts },
      cachedReply(query, access, call, reply),
    )
  },
})

/** Approximate memory of the headers of a reply and of the objects around them. */
const headersBytes = 2_000

/**
 * Returns an answer whose JSON body is written once and then cached.
 *
 * @param query the parsed parameters, because some of them may come from the body
 */
const cachedReply = <Result>(
  query: object,
  { project }: ProjectCall,
  call: Call,
  reply: (result: Result) => Reply,
): CachedAnswer<Result, Reply> => ({
  key: `${project.pathWithNamespace} ${call.baseUrl} ${call.raw.request.originalUrl} ${JSON.stringify(query)}`,
  async make(result) {
    const made = reply(result)
    return { ...made, body: await writeJson(made.body) }
  },
  bytesOf: ({ body }) => headersBytes + (body instanceof WrittenJson ? body.bytes : 0),
})

const getSequence = endpoint({
  summary: 'Count the commits in the history of a commit, including the commit',
  replies: { 200: z.object({ count: z.int() }).meta({ id: 'CommitSequence' }) },
  input: z.object({ sha: text(), first_parent: flag().default(false) }),
  async handle({ sha, first_parent }, access: ProjectCall) {
    const count = await commitReading.countCommits(access, { revision: sha, firstParent: first_parent })
    return ok({ count })
  },
})

const getSignature = endpoint({
  summary: 'Get the kind of signature of a commit; signatures are not verified',
  replies: { 200: signatureShape },
  input: z.object({ sha: text() }),
  async handle({ sha }, access: ProjectCall) {
    return ok(presentSignature(await commitReading.readCommitSignature(access, sha)))
  },
})

const referenceShape = z
  .object({ type: z.enum(['branch', 'tag']), name: z.string() })
  .meta({ id: 'CommitReference', description: 'A branch or tag that has a commit in its history' })

const listCommitReferences = endpoint({
  summary: 'List the branches and tags that contain a commit',
  replies: { 200: z.array(referenceShape) },
  input: z.object({
    ...pageParameters,
    sha: text(),
    type: z.enum(['all', 'branch', 'tag']).default('all'),
  }),
  async handle({ sha, type, ...page }, access: ProjectCall, call) {
    const found = await commitReading.listCommitReferences(access, { revision: sha, type })
    const { skip, take } = rowsOf(page)
    return pageReply(found.slice(skip, skip + take), page, found.length, call)
  },
})

/** `GET /projects/:id/repository/commits/:sha/merge_requests`, for clients that ask GitLab. */
const listMergeRequests = endpoint({
  summary: 'List the merge requests of a commit: always empty',
  replies: { 200: z.array(z.never()) },
  input: z.object({ ...pageParameters, sha: text() }),
  async handle({ sha, ...page }, { repository }: ProjectCall, call) {
    await commits.getCommitId(repository, sha)
    return pageReply([], page, 0, call)
  },
})

const contributorShape = z
  .object({
    name: z.string(),
    email: z.string(),
    commits: z.int().meta({ description: 'Merges are not counted' }),
    additions: z.literal(0),
    deletions: z.literal(0),
  })
  .meta({ id: 'Contributor', description: 'An author of commits; `additions` and `deletions` are always 0' })

const input = z.object({
  ...pageParameters,
  ref: optionalText(text()),
  order_by: z.enum(['commits', 'name', 'email']).default('commits'),
  sort: z.enum(['asc', 'desc']).default('asc'),
})

const listContributors = endpoint({
  summary: 'List the authors of commits',
  replies: { 200: z.array(contributorShape) },
  input,
  async handle({ ref, order_by: order, sort, ...page }, access: ProjectCall, call) {
    const found = await commitReading.listAuthors(access, {
      revision: ref,
      order,
      descending: sort === 'desc',
    })
    const { skip, take } = rowsOf(page)
    const items = found
      .slice(skip, skip + take)
      .map((contributor) => ({ ...contributor, additions: 0, deletions: 0 }))
    return pageReply(items, page, found.length, call)
  },
})
