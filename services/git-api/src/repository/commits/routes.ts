import type { Project } from '@switchyard/db'
import type { Caller } from '@switchyard/domain/access'
import { actionNames } from '@switchyard/domain/commit'
import {
  type Call,
  created,
  endpoint,
  filledText,
  flag,
  list,
  ok,
  parameterProblem,
  pathCharsMax,
  proseCharsMax,
  type Route,
  route,
  text,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ProjectCall } from '../../guards.js'
import { commitDetailShape, dryRunShape, presentCommitDetail, presentDryRun } from '../../shapes/commit.js'
import { commitBytesMax, content, optional, optionalText } from '../../shapes/parameters.js'
import * as appliedCommits from './applied-commits.js'
import type { CommitDependencies } from './commits.js'
import * as commits from './commits.js'
import { commitReadRoutes } from './read-routes.js'

export function commitRoutes(deps: CommitDependencies): Route[] {
  const { pushCode } = deps.guards
  const path = '/projects/:id/repository/commits'
  return [
    route('POST', path, pushCode, createCommit(deps), {
      bodyBytesMax: commitBytesMax,
      parseLargeBody: deps.commitBodies.parse,
      longLived: true,
    }),
    ...commitReadRoutes(deps),
    route('POST', `${path}/:sha/cherry_pick`, pushCode, cherryPick(deps)),
    route('POST', `${path}/:sha/revert`, pushCode, revertCommit(deps)),
  ]
}

const actionsMax = 10_000

const action = z.object({
  action: z.enum(actionNames),
  file_path: filledText(pathCharsMax),
  previous_path: optional(text(pathCharsMax)),
  content: optional(content),
  encoding: z
    .enum(['text', 'base64'])
    .nullish()
    .transform((encoding) => encoding ?? 'text'),
  execute_filemode: optional(flag()),
  last_commit_id: optional(text()),
})

const fields = z.object({
  branch: filledText(),
  commit_message: filledText(proseCharsMax),
  actions: list(action, actionsMax),
  author_name: optionalText(text()),
  author_email: optionalText(text()),
  start_branch: optionalText(text()),
  start_sha: optionalText(text()),
  start_project: optionalText(text()),
  force: flag().default(false),
  allow_empty: flag().default(false),
  stats: flag().default(true),
  dry_run: flag()
    .default(false)
    .meta({ description: 'Respond with the changes that would be made, without storing them' }),
})

/** A form cannot send an empty list, so an empty commit may leave `actions` out. */
const createCommitInput = z.preprocess((given) => {
  const { actions = [], allow_empty } = given as Record<string, unknown>
  return flag().safeParse(allow_empty).data ? { ...(given as object), actions } : given
}, fields)

/**
 * Refuses a start in another project, because branches start in their own project only and a client would
 * rely on it.
 */
function refuseOtherProject(reference: string | undefined, { id, pathWithNamespace }: Project): void {
  const own = [String(id), pathWithNamespace.toLowerCase()]
  if (reference === undefined || own.includes(reference.toLowerCase())) return
  throw parameterProblem(
    'start_project',
    'must be the project itself: a branch cannot start in another project',
  )
}

const createCommit = (deps: CommitDependencies) =>
  endpoint({
    summary: 'Create a commit with changes to files',
    replies: { 200: dryRunShape, 201: commitDetailShape },
    refusals: [409],
    input: createCommitInput,
    async handle(body, access: ProjectCall<Caller>, call) {
      if (body.start_branch && body.start_sha) {
        throw parameterProblem('start_branch, start_sha', 'are mutually exclusive')
      }
      refuseOtherProject(body.start_project, access.project)
      const command = {
        branch: body.branch,
        message: body.commit_message,
        actions: body.actions,
        authorName: body.author_name,
        authorEmail: body.author_email,
        startBranch: body.start_branch,
        startSha: body.start_sha,
        force: body.force,
        allowEmpty: body.allow_empty,
        withStats: body.stats,
      }
      if (body.dry_run) return ok(presentDryRun(await commits.previewActions(deps.database, access, command)))
      const made = await commits.createCommit(deps, access, command, call)
      return created(presentCommitDetail(made, access.project, call.baseUrl))
    },
  })

const replies = { 200: dryRunShape, 201: commitDetailShape }
const applyCommitInput = z.object({ sha: text(), branch: filledText(), dry_run: flag().default(false) })

type AppliedCommit = Awaited<ReturnType<typeof appliedCommits.revertCommit>>

const answer = (applied: AppliedCommit, { project }: ProjectCall, { baseUrl }: Call) =>
  'diffs' in applied
    ? ok(presentDryRun(applied.diffs))
    : created(presentCommitDetail(applied, project, baseUrl))

const cherryPick = (deps: CommitDependencies) =>
  endpoint({
    summary: 'Cherry-pick a commit to a branch',
    replies,
    refusals: [409],
    input: applyCommitInput.extend({ message: optionalText(text(proseCharsMax)) }),
    async handle({ sha: revision, branch, message, dry_run: dryRun }, access: ProjectCall<Caller>, call) {
      const command = { revision, branch, message, dryRun }
      return answer(await appliedCommits.cherryPick(deps, access, command, call), access, call)
    },
  })

const revertCommit = (deps: CommitDependencies) =>
  endpoint({
    summary: 'Revert a commit on a branch',
    replies,
    refusals: [409],
    input: applyCommitInput,
    async handle({ sha: revision, branch, dry_run: dryRun }, access: ProjectCall<Caller>, call) {
      const command = { revision, branch, dryRun }
      return answer(await appliedCommits.revertCommit(deps, access, command, call), access, call)
    },
  })
