import { enqueueForProject, type Project } from '@switchyard/db'
import type { Dependencies } from '../dependencies.js'
import type { Repository } from '../git/git.js'
import type { HookUser } from '../presenters/hooks/hook-parts.js'
import { isZero, type PushedCommits, pushHook, type RefChange } from '../presenters/hooks/push-hook.js'

export interface Change {
  project: Project
  user: HookUser
  /** Scheme, host and port that clients use. */
  baseUrl: string
}

/** Of one push; who moves more at once mirrors a repository. */
const toldChangesMax = 100
/** As many as GitLab's receivers are used to. */
const shownCommitsMax = 20
/** How far back commits are looked for that were there before. */
const knownCommitsMax = 500

/**
 * Everything that follows from moved references: tidying, news, webhooks. They have moved by now, so nothing that
 * fails here makes a push look refused.
 */
export async function referencesChanged(
  { database, git, jobs, logger }: Pick<Dependencies, 'database' | 'git' | 'jobs' | 'logger'>,
  { project, user, baseUrl }: Change,
  changes: readonly RefChange[],
): Promise<void> {
  jobs.requestHousekeeping(project.id)
  try {
    const repository = git.open(project)
    for (const change of changes.slice(0, toldChangesMax)) {
      const event = eventOf(change.ref)
      if (event === null) continue
      jobs.announce({ event, project_id: project.id, ...change })
      await enqueueForProject(database.pool, project.id, event, async () => {
        const commits = await pushedCommits(repository, project, change)
        return pushHook(change, commits, { project, user, baseUrl })
      })
    }
  } catch (error) {
    logger.warn({ err: error, project_id: project.id }, 'could not tell webhooks of a push')
  }
}

function eventOf(ref: string): 'push' | 'tag_push' | null {
  if (ref.startsWith('refs/heads/')) return 'push'
  return ref.startsWith('refs/tags/') ? 'tag_push' : null
}

/** The commits that came with a change, and how many; a new branch is held against the default branch. */
export async function pushedCommits(
  repository: Repository,
  project: Project,
  { ref, before, after }: RefChange,
): Promise<PushedCommits> {
  if (isZero(after) || eventOf(ref) !== 'push') return { commits: [], total: 0 }
  const isDefault = ref === `refs/heads/${project.defaultBranch}`
  const base = isZero(before) && !isDefault ? `refs/heads/${project.defaultBranch}` : before
  const newest = (revision: string, take: number) =>
    repository.listCommits({ revision, topological: true, skip: 0, take })
  const [since, known] = await Promise.all([newest(after, knownCommitsMax), newest(base, knownCommitsMax)])
  const knownIds = new Set(known.commits.map(({ id }) => id))
  const fresh = since.commits.filter(({ id }) => !knownIds.has(id))
  // Past the window the difference of the counts is right for branches that went forward.
  const total = fresh.length < since.commits.length ? fresh.length : Math.max(0, since.total - known.total)
  const shown = fresh.slice(0, Math.min(shownCommitsMax, total)).reverse()
  const commits = await Promise.all(
    shown.map(async (commit) => ({ commit, changes: await repository.readDiff(commit.id) })),
  )
  return { commits, total }
}
