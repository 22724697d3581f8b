import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { getVersioned, send, type Versioned } from '../../../api/client'
import { linesOf, textOf } from '../../../components/action-dialog'
import { Button } from '../../../components/button'
import { SelectField, TextArea, TextField } from '../../../components/fields'
import { Panel } from '../../../components/page'
import { Problem, Shown } from '../../../components/states'
import type { Project } from '../../../generated/types.gen'
import { useEdit } from '../../../lib/edit-version'
import { useProject, useProjectPath } from '../project-frame'

/** Name, description, visibility, default branch, services and archiving of a project. */
export function GeneralPanel() {
  const address = useProjectPath()
  const project = useQuery({
    queryKey: ['project-settings', address],
    queryFn: ({ signal }) => getVersioned<Project>(address, signal),
    // Typed text must not be replaced.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  return (
    <Panel name="General" busy={project.isPending}>
      <Shown query={project}>{(found) => <GeneralForm found={found} />}</Shown>
    </Panel>
  )
}

const fieldsOf = ({ name, description, visibility, default_branch, default_services }: Project) => ({
  name: name.trim(),
  // A field of several lines has only line feeds, and its text is trimmed.
  description: (description ?? '').replaceAll('\r\n', '\n').trim(),
  visibility: String(visibility),
  default_branch,
  default_services,
})

function GeneralForm({ found }: { found: Versioned<Project> }) {
  const { archived } = useProject()
  const address = useProjectPath()
  const client = useQueryClient()
  const edit = useEdit(address, found, fieldsOf)
  const { first } = edit
  const refresh = async () => {
    await client.invalidateQueries({ queryKey: ['project'] })
    await client.invalidateQueries({ queryKey: ['projects'] })
  }
  const save = useMutation({
    mutationFn: (form: FormData) =>
      edit.save({
        name: textOf(form, 'name'),
        description: textOf(form, 'description'),
        visibility: textOf(form, 'visibility'),
        default_branch: textOf(form, 'default_branch'),
        default_services: linesOf(form, 'default_services'),
      }),
    onSuccess: refresh,
  })
  const archive = useMutation({
    mutationFn: () => send('POST', `${address}/${archived ? 'unarchive' : 'archive'}`),
    async onSuccess() {
      await refresh()
      await edit.renew()
    },
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    save.mutate(new FormData(event.currentTarget))
  }
  return (
    <form onSubmit={submit} className="max-w-2xl">
      <TextField label="Name" name="name" required maxLength={255} defaultValue={first.name} />
      <TextArea
        label="Description"
        name="description"
        rows={2}
        maxLength={2000}
        defaultValue={first.description}
      />
      <SelectField label="Visibility" name="visibility" defaultValue={first.visibility}>
        <option value="private">Private: members only</option>
        <option value="internal">Internal: every user</option>
        <option value="public">Public: everybody</option>
      </SelectField>
      <TextField
        label="Default branch"
        name="default_branch"
        required
        defaultValue={first.default_branch}
        className="font-mono text-sm"
      />
      <TextArea
        label="Services"
        name="default_services"
        rows={2}
        defaultValue={first.default_services.join('\n')}
        hint="What a deployment ships that names no services: names as sagas and queues report them, one a line."
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
          {archived ? 'Take out of the archive' : 'Archive: refuse all changes'}
        </Button>
        <span role="status" className="text-sm text-quiet">
          {save.isSuccess && 'Saved'}
        </span>
      </div>
    </form>
  )
}
