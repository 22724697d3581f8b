import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { send } from '../../../api/client'
import { textOf } from '../../../components/action-dialog'
import { Button } from '../../../components/button'
import { SelectField, TextArea, TextField } from '../../../components/fields'
import { Panel } from '../../../components/page'
import { Problem } from '../../../components/states'
import { useProject, useProjectPath } from '../project-frame'

/** Name, description, visibility and default branch of a project, and its archive. */
export function GeneralPanel() {
  const project = useProject()
  const address = useProjectPath()
  const client = useQueryClient()
  const refresh = async () => {
    await client.invalidateQueries({ queryKey: ['project'] })
    await client.invalidateQueries({ queryKey: ['projects'] })
  }
  const save = useMutation({
    mutationFn: (form: FormData) =>
      send('PUT', address, {
        name: textOf(form, 'name'),
        description: textOf(form, 'description'),
        visibility: textOf(form, 'visibility'),
        default_branch: textOf(form, 'default_branch'),
      }),
    onSuccess: refresh,
  })
  const archive = useMutation({
    mutationFn: () => send('POST', `${address}/${project.archived ? 'unarchive' : 'archive'}`),
    onSuccess: refresh,
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    save.mutate(new FormData(event.currentTarget))
  }
  return (
    <Panel name="General">
      <form onSubmit={submit} className="max-w-2xl">
        <TextField label="Name" name="name" required maxLength={255} defaultValue={project.name} />
        <TextArea
          label="Description"
          name="description"
          rows={2}
          maxLength={2000}
          defaultValue={project.description ?? ''}
        />
        <SelectField label="Visibility" name="visibility" defaultValue={project.visibility}>
          <option value="private">Private: members only</option>
          <option value="internal">Internal: every user</option>
          <option value="public">Public: everybody</option>
        </SelectField>
        <TextField
          label="Default branch"
          name="default_branch"
          required
          defaultValue={project.default_branch}
          className="font-mono text-sm"
        />
        {(save.isError || archive.isError) && (
          <div className="mb-3">
            <Problem error={save.error ?? archive.error} />
          </div>
        )}
        <div className="flex flex-wrap items-center gap-2">
          <Button type="submit" look="primary" disabled={save.isPending}>
            Save
          </Button>
          <Button disabled={archive.isPending} onClick={() => archive.mutate()}>
            {project.archived ? 'Take out of the archive' : 'Archive: refuse all changes'}
          </Button>
          <span role="status" className="text-sm text-quiet">
            {save.isSuccess && 'Saved'}
          </span>
        </div>
      </form>
    </Panel>
  )
}
