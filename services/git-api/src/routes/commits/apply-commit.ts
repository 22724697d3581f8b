import type { Caller } from '@switchyard/domain/access'
import {
  type Call,
  created,
  endpoint,
  filledText,
  flag,
  ok,
  proseCharsMax,
  text,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { Dependencies } from '../../dependencies.js'
import type { ProjectCall } from '../../guards.js'
import { commitDetailShape, presentCommitDetail } from '../../presenters/commit.js'
import { dryRunShape, presentDryRun } from '../../presenters/diff.js'
import * as commits from '../../use-cases/apply-commit.js'
import { optionalText } from '../../wire/parameters.js'

const replies = { 200: dryRunShape, 201: commitDetailShape }
const input = z.object({ sha: text(), branch: filledText(), dry_run: flag().default(false) })

type AppliedCommit = Awaited<ReturnType<typeof commits.revertCommit>>

const answer = (applied: AppliedCommit, { project }: ProjectCall, { baseUrl }: Call) =>
  'diffs' in applied
    ? ok(presentDryRun(applied.diffs))
    : created(presentCommitDetail(applied, project, baseUrl))

/** `POST /projects/:id/repository/commits/:sha/cherry_pick` */
export const cherryPick = (deps: Dependencies) =>
  endpoint({
    summary: 'Apply a commit to a branch',
    replies,
    refusals: [409],
    input: input.extend({ message: optionalText(text(proseCharsMax)) }),
    async handle({ sha: revision, branch, message, dry_run: dryRun }, access: ProjectCall<Caller>, call) {
      const command = { revision, branch, message, dryRun }
      return answer(await commits.cherryPick(deps, access, command, call), access, call)
    },
  })

/** `POST /projects/:id/repository/commits/:sha/revert` */
export const revertCommit = (deps: Dependencies) =>
  endpoint({
    summary: 'Undo a commit on a branch',
    replies,
    refusals: [409],
    input,
    async handle({ sha: revision, branch, dry_run: dryRun }, access: ProjectCall<Caller>, call) {
      const command = { revision, branch, dryRun }
      return answer(await commits.revertCommit(deps, access, command, call), access, call)
    },
  })
