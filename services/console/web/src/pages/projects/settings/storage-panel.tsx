import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { get } from '../../../api/client'
import { useSession } from '../../../api/session'
import { textOf } from '../../../components/action-dialog'
import { Button } from '../../../components/button'
import { TextField } from '../../../components/fields'
import { Panel } from '../../../components/page'
import { Problem, Shown } from '../../../components/states'
import type { Project } from '../../../generated/types.gen'
import { changeShown } from '../../../lib/edit-version'
import { bytes } from '../../../lib/format'
import { useProjectPath } from '../project-frame'

/** The project's use of the disk, and its limit, which administrators can change. */
export function StoragePanel({ mayChange }: { mayChange: boolean }) {
  const address = useProjectPath()
  const isAdministrator = useSession().user?.is_admin === true
  const query = useQuery({
    queryKey: ['project', address, 'statistics'],
    queryFn: ({ signal }) => get<Project>(address, { statistics: true }, signal),
  })
  return (
    <Panel name="Storage">
      <Shown query={query}>
        {(project) => (
          <>
            {project.statistics && <Use statistics={project.statistics} />}
            {mayChange && isAdministrator && <LimitForm shown={project} />}
          </>
        )}
      </Shown>
    </Panel>
  )
}

function Use({ statistics }: { statistics: NonNullable<Project['statistics']> }) {
  const { storage_size, storage_size_limit, repository_size, lfs_objects_size, pipeline_artifacts_size } =
    statistics
  const limit = storage_size_limit === null ? 'without a limit' : `of ${bytes(storage_size_limit)}`
  return (
    <div className="mb-3 max-w-2xl">
      <p>
        {bytes(storage_size)} {limit}: {bytes(repository_size)} in the repository, {bytes(lfs_objects_size)}{' '}
        in packages, uploads and Git LFS, {bytes(pipeline_artifacts_size)} in reports of statuses.
      </p>
      {storage_size_limit !== null && (
        <meter
          className="mt-2 w-full"
          aria-label="Storage in use"
          max={Math.max(1, storage_size_limit)}
          high={0.9 * storage_size_limit}
          value={storage_size}
        />
      )}
    </div>
  )
}

function LimitForm({ shown }: { shown: Project }) {
  const address = useProjectPath()
  const client = useQueryClient()
  const save = useMutation({
    mutationFn: (form: FormData) => {
      const text = textOf(form, 'limit')
      return changeShown(address, shown, { repository_size_limit: text === '' ? null : Number(text) })
    },
    onSuccess: () => client.invalidateQueries({ queryKey: ['project'] }),
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    save.mutate(new FormData(event.currentTarget))
  }
  return (
    <form onSubmit={submit} className="max-w-2xl">
      <TextField
        label="Limit of this project in bytes (0: none; empty: that of the installation)"
        name="limit"
        inputMode="numeric"
        pattern="\d*"
        defaultValue={shown.repository_size_limit ?? ''}
      />
      {save.isError && (
        <div className="mb-3">
          <Problem error={save.error} />
        </div>
      )}
      <div className="flex items-center gap-2">
        <Button type="submit" look="primary" disabled={save.isPending}>
          Set the limit
        </Button>
        <span role="status" className="text-sm text-quiet">
          {save.isSuccess && 'Saved'}
        </span>
      </div>
    </form>
  )
}
