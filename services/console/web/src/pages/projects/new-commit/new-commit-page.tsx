import { useMutation, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { send } from '../../../api/client'
import { Button } from '../../../components/button'
import { TextArea } from '../../../components/fields'
import { Page } from '../../../components/page'
import { NotAllowed, Problem } from '../../../components/states'
import type { CommitDetail } from '../../../generated/types.gen'
import { FileDiff } from '../code/file-diff'
import { type DryRun, type FileChange, useMayChange } from '../project-data'
import { useProject, useProjectPath } from '../project-frame'
import { RefField, useRefNames } from '../ref-field'
import { ChangeFields } from './change-fields'
import { actionOf, type Change } from './changes'

const route = getRouteApi('/projects/$namespace/$name/new-commit')

export const NewCommitPage = () => (useMayChange('developer') ? <NewCommit /> : <NotAllowed />)

/** Chooses a branch. An unknown name creates a new branch from the branch in the address. */
function useBranch() {
  const { default_branch, empty_repo } = useProject()
  const { ref = default_branch } = route.useSearch()
  const [branch, setBranch] = useState(ref)
  const isKnown = useRefNames(branch, 'branches').some(({ name }) => name === branch)
  const base = empty_repo ? undefined : isKnown ? branch : ref
  const start = base !== undefined && base !== branch ? base : undefined
  return { branch, setBranch, base, start }
}

function useChanges() {
  const { path = '' } = route.useSearch()
  const [changes, setChanges] = useState<Change[]>([newChange(0, path)])
  return {
    changes,
    edit: (key: number, part: Partial<Change>) =>
      setChanges((all) => all.map((change) => (change.key === key ? { ...change, ...part } : change))),
    remove: (key: number) => setChanges((all) => all.filter((change) => change.key !== key)),
    add: () => setChanges((all) => [...all, newChange(Math.max(...all.map(({ key }) => key)) + 1, '')]),
  }
}

const newChange = (key: number, path: string): Change => ({
  key,
  kind: 'write',
  path,
  previousPath: '',
  content: '',
})

function NewCommit() {
  const project = useProjectPath()
  const client = useQueryClient()
  const navigate = route.useNavigate()
  const { branch, setBranch, base, start } = useBranch()
  const { changes, edit, remove, add } = useChanges()
  const [message, setMessage] = useState('')
  const request = (isDryRun: boolean) => ({
    branch,
    commit_message: message || 'Preview',
    actions: changes.map(actionOf),
    ...(start !== undefined && { start_branch: start }),
    ...(isDryRun && { dry_run: true }),
  })
  const preview = useMutation({
    mutationFn: () => send<DryRun>('POST', `${project}/repository/commits`, request(true)),
  })
  const commit = useMutation({
    mutationFn: () => send<CommitDetail>('POST', `${project}/repository/commits`, request(false)),
    async onSuccess({ id }) {
      await client.invalidateQueries({ queryKey: [project] })
      void client.invalidateQueries({ queryKey: ['project'] })
      await navigate({
        to: '/projects/$namespace/$name/commits/$sha',
        params: (before) => ({ ...before, sha: id }),
      })
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    preview.reset()
    commit.mutate()
  }
  const arePathsGiven = changes.every(({ path }) => path !== '')
  return (
    <Page title="New commit">
      <form onSubmit={submit}>
        <div className="mb-4 rounded-lg border bg-panel p-4">
          <RefField
            label="Branch"
            kinds="branches"
            required
            value={branch}
            onChange={setBranch}
            hint={start === undefined ? undefined : `This is a new branch. It begins with ${start}.`}
          />
          <TextArea
            label="Commit message"
            required
            rows={3}
            value={message}
            onChange={(event) => setMessage(event.target.value)}
            hint="The first line is the title. Leave an empty line before further text."
          />
        </div>
        {changes.map((change, index) => (
          <ChangeFields
            key={change.key}
            change={change}
            title={changes.length === 1 ? 'Change' : `Change ${index + 1}`}
            baseRef={base}
            onChange={(part) => edit(change.key, part)}
            onRemove={changes.length > 1 ? () => remove(change.key) : undefined}
          />
        ))}
        {commit.isError && (
          <div className="mb-4">
            <Problem error={commit.error} />
          </div>
        )}
        <div className="mb-5 flex flex-wrap gap-2">
          <Button onClick={add}>Add another change</Button>
          <span className="flex-1" />
          <Button disabled={preview.isPending || !arePathsGiven} onClick={() => preview.mutate()}>
            Preview changes
          </Button>
          <Button type="submit" look="primary" disabled={commit.isPending}>
            Commit
          </Button>
        </div>
      </form>
      {preview.isError && <Problem error={preview.error} />}
      {preview.data && <Preview changes={preview.data.diffs} />}
    </Page>
  )
}

function Preview({ changes }: { changes: readonly FileChange[] }) {
  return (
    <section aria-label="Preview">
      <h2 className="mb-2 text-lg font-semibold">Preview</h2>
      {changes.length === 0 && <p className="text-quiet">The commit would change nothing.</p>}
      {changes.map((change) => (
        <FileDiff key={`${change.old_path}\n${change.new_path}`} change={change} view="unified" />
      ))}
    </section>
  )
}
