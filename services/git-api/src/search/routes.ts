import type { Database } from '@switchyard/db'
import { invalidParameters } from '@switchyard/domain'
import type { Caller } from '@switchyard/domain/access'
import type { FoundLines } from '@switchyard/git-storage/files'
import {
  endpoint,
  filledText,
  pageParameters,
  pageReply,
  type Route,
  route,
  rowsOf,
  signedIn,
  text,
  unsupported,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import * as members from '../access/members/members.js'
import type { ProjectCall, ProjectResourceDependencies } from '../guards.js'
import * as projects from '../projects/projects.js'
import { commitShape, presentCommit } from '../shapes/commit.js'
import { optionalText } from '../shapes/parameters.js'
import { basicProjectShape, presentBasicProject } from '../shapes/project.js'
import { presentUser, userShape } from '../shapes/user.js'
import * as search from './search.js'

export const searchRoutes = ({ database, guards }: ProjectResourceDependencies): Route[] => [
  route('GET', '/search', signedIn, searchAll(database)),
  // As in GitLab, search requires sign-in, even where everybody may read the code.
  route('GET', '/projects/:id/search', guards.readStatuses, searchProject(database)),
]

const searchCharsMax = 1024

const projectScopes = ['commits', 'blobs', 'users'] as const
/** Scopes that only GitLab has; they find nothing. */
const emptyScopes = ['issues', 'merge_requests', 'milestones', 'snippet_titles', 'wiki_blobs'] as const

const parameters = {
  ...pageParameters,
  search: filledText(searchCharsMax).meta({
    description:
      'Any part of the text, case-insensitive; for blobs with path filters: `filename:*.md`, `path:docs/`, `extension:rb`, or `-path:docs/` for all others; at most 20 filters',
  }),
  order_by: unsupported('is not supported: the order is that of each scope'),
  sort: unsupported('is not supported: the order is that of each scope'),
  state: unsupported('is not supported: it is of issues and merge requests'),
  confidential: unsupported('is not supported: it is of issues'),
  fields: unsupported('is not supported: it is of issues'),
  regex: unsupported('is not supported: the text is found as it is'),
  num_context_lines: unsupported('is not supported: two lines before and after are shown'),
  search_type: unsupported('is not supported: there is one kind of search'),
}

const searchAll = (database: Database) =>
  endpoint({
    summary: 'Search the projects that the caller may see',
    replies: { 200: z.array(basicProjectShape) },
    input: z.object({
      ...parameters,
      scope: z
        .enum(['projects', ...projectScopes, ...emptyScopes])
        .meta({ description: '`commits`, `blobs` and `users` are searched in one project' }),
    }),
    async handle({ scope, search: wanted, ...page }, caller: Caller, call) {
      if (projectScopes.some((each) => each === scope)) {
        throw invalidParameters([`scope ${scope} is searched in one project: GET /projects/:id/search`])
      }
      if (scope !== 'projects') return pageReply([], page, 0, call)
      const filter = { membership: false, owned: false, search: wanted, searchNamespaces: true }
      const order = { column: 'similarity', direction: 'desc' } as const
      const found = await projects.listBasicProjects(database, caller, filter, order, rowsOf(page))
      const items = found.projects.map((project) => presentBasicProject(project, call.baseUrl))
      return pageReply(items, page, found.total, call)
    },
  })

const blobShape = z
  .object({
    basename: z.string(),
    data: z.string(),
    path: z.string(),
    filename: z.string(),
    id: z.null(),
    ref: z.string(),
    startline: z.int(),
    project_id: z.int(),
  })
  .meta({
    id: 'FoundBlob',
    description: 'Matching lines of a file, or its first lines when its path matched',
  })

/** Returns a match in GitLab's shape. As in GitLab, `basename` is the path without its extension. */
const presentBlob = ({ path, text: data, startLine }: FoundLines, ref: string, projectId: number) => ({
  basename: path.replace(/(?<=[^/])\.[^./]*$/, ''),
  data,
  path,
  filename: path,
  id: null,
  ref,
  startline: startLine,
  project_id: projectId,
})

const searchProject = (database: Database) =>
  endpoint({
    summary: 'Search the commits, files and members of a project',
    replies: { 200: z.union([z.array(commitShape), z.array(blobShape), z.array(userShape)]) },
    refusals: [404, 422],
    input: z.object({
      ...parameters,
      scope: z.enum([...projectScopes, ...emptyScopes]),
      ref: optionalText(text()).meta({
        description: 'Branch, tag or commit; default: the default branch',
      }),
    }),
    async handle({ scope, search: wanted, ref, ...page }, access: ProjectCall<Caller>, call) {
      search.requireOneLine(wanted)
      const { project } = access
      const query = { text: wanted, ref, ...rowsOf(page) }
      if (scope === 'commits') {
        const { items, total } = await search.searchCommits(access, query)
        const shown = items.map((commit) => presentCommit(commit, project, call.baseUrl))
        return pageReply(shown, page, total, call)
      }
      if (scope === 'users') {
        const filter = { projectId: project.id, search: wanted, only: undefined, skipped: undefined }
        const found = await members.listMembers(database, filter, rowsOf(page))
        const shown = found.members.map(({ user }) => presentUser(user, call.baseUrl))
        return pageReply(shown, page, found.total, call)
      }
      if (scope !== 'blobs') return pageReply([], page, 0, call)
      const { items, total } = await search.searchBlobs(access, query)
      const shown = items.map((found) => presentBlob(found, ref ?? project.defaultBranch, project.id))
      return pageReply(shown, page, total, call)
    },
  })
