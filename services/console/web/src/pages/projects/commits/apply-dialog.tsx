import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useDeferredValue, useState } from 'react'
import { ApiError, segment, send } from '../../../api/client'
import { Button } from '../../../components/button'
import { Modal, ModalActions } from '../../../components/modal'
import { Problem, Shown } from '../../../components/states'
import type { CommitDetail } from '../../../generated/types.gen'
import { countOf } from '../../../lib/format'
import { Counts, countsOf } from '../code/file-diff'
import type { DryRun, FileChange } from '../project-data'
import { useProject, useProjectParams, useProjectPath } from '../project-frame'
import { RefField, useRefNames } from '../ref-field'

const actions = {
  cherry_pick: {
    name: 'Cherry-pick',
    hint: 'The change of this commit is made on the branch as a new commit.',
  },
  revert: { name: 'Revert', hint: 'A new commit on the branch takes the change of this commit back.' },
}

export type Action = keyof typeof actions

/** Applies the change of a commit, or its reverse, to a branch, after a preview of the result. */
export function ApplyDialog({ action, sha, onClose }: { action: Action; sha: string; onClose: () => void }) {
  const { name, hint } = actions[action]
  const { default_branch } = useProject()
  const params = useProjectParams()
  const project = useProjectPath()
  const [branch, setBranch] = useState(default_branch)
  const isKnown = useRefNames(branch, 'branches').some((choice) => choice.name === branch)
  const client = useQueryClient()
  const navigate = useNavigate()
  const address = `${project}/repository/commits/${segment(sha)}/${action}`
  const apply = useMutation({
    mutationFn: () => send<CommitDetail>('POST', address, { branch }),
    async onSuccess({ id }) {
      onClose()
      void client.invalidateQueries({ queryKey: [project] })
      await navigate({
        to: '/projects/$namespace/$name/commits/$sha',
        params: { ...params, sha: id },
      })
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    apply.mutate()
  }
  return (
    <Modal title={name} onClose={onClose} wide>
      <form onSubmit={submit}>
        <RefField
          label="Branch"
          value={branch}
          onChange={setBranch}
          kinds="branches"
          hint={hint}
          autoFocus
          required
        />
        <Preview address={address} branch={isKnown ? branch : undefined} />
        {apply.isError && (
          <div className="mt-3">
            <Problem error={apply.error} />
          </div>
        )}
        <ModalActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" disabled={apply.isPending || !isKnown}>
            {name}
          </Button>
        </ModalActions>
      </form>
    </Modal>
  )
}

function Preview({ address, branch }: { address: string; branch: string | undefined }) {
  const shown = useDeferredValue(branch)
  const preview = useQuery({
    queryKey: [address, shown],
    queryFn: () => send<DryRun>('POST', address, { branch: shown, dry_run: true }),
    enabled: shown !== undefined,
    retry: false,
    staleTime: 0,
  })
  const conflicts = conflictsOf(preview.error)
  return (
    <section aria-label="Preview" aria-busy={preview.isFetching || undefined} className="rounded-lg border">
      <h3 className="border-b px-3 py-1.5 font-semibold">Preview</h3>
      <div className="max-h-72 overflow-y-auto p-3 text-sm">
        {shown === undefined ? (
          <p className="text-quiet">Choose a branch of the project to see what would change on it.</p>
        ) : conflicts ? (
          <Conflicts paths={conflicts} />
        ) : (
          <Shown query={preview}>{({ diffs }) => <ChangedFiles changes={diffs ?? []} />}</Shown>
        )}
      </div>
    </section>
  )
}

function conflictsOf(error: unknown): string[] | undefined {
  const paths = error instanceof ApiError ? error.body.conflicted_paths : undefined
  return Array.isArray(paths) ? paths.map(String) : undefined
}

const Conflicts = ({ paths }: { paths: string[] }) => (
  <>
    <p className="mb-1 text-bad">
      The change does not fit: {countOf(paths.length, 'file has', 'files have')} conflicts. Make the change
      with git, or choose another branch.
    </p>
    <ul>
      {paths.map((path) => (
        <li key={path} className="font-mono break-all">
          {path}
        </li>
      ))}
    </ul>
  </>
)

const ChangedFiles = ({ changes }: { changes: readonly FileChange[] }) => (
  <>
    <p className="mb-1">
      The change fits: {changes.length > 0 ? countOf(changes.length, 'file') : 'it'} would change, without a
      conflict.
    </p>
    <ul>
      {changes.map((change) => (
        <li key={`${change.old_path}\n${change.new_path}`} className="flex gap-3 py-0.5">
          <span className="min-w-0 flex-1 font-mono break-all">{change.new_path}</span>
          <Counts counts={countsOf(change)} />
        </li>
      ))}
    </ul>
  </>
)
