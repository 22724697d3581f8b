import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { send } from '../../api/client'
import { useMay } from '../../api/session'
import { Button } from '../../components/button'
import { CheckboxField, SelectField, TextArea, TextField } from '../../components/fields'
import { Modal, ModalActions } from '../../components/modal'
import { Problem } from '../../components/states'
import type { Project } from '../../generated/types.gen'

/** A button and a dialog that create a project in the namespace of the session's user. */
export function NewProject() {
  const [isOpen, setIsOpen] = useState(false)
  if (!useMay('projects.change')) return null
  return (
    <>
      <Button look="primary" onClick={() => setIsOpen(true)}>
        New project
      </Button>
      {isOpen && <NewProjectDialog onClose={() => setIsOpen(false)} />}
    </>
  )
}

function NewProjectDialog({ onClose }: { onClose: () => void }) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const create = useMutation({
    mutationFn: (fields: FormData) =>
      send<Project>('POST', '/projects', {
        name: fields.get('name'),
        description: fields.get('description') || null,
        visibility: fields.get('visibility'),
        initialize_with_readme: fields.get('readme') !== null,
      }),
    async onSuccess({ namespace, path }) {
      onClose()
      void client.invalidateQueries({ queryKey: ['projects'] })
      await navigate({
        to: '/projects/$namespace/$name',
        params: { namespace: namespace.full_path, name: path },
      })
    },
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    create.mutate(new FormData(event.currentTarget))
  }
  return (
    <Modal title="New project" onClose={onClose}>
      <form onSubmit={submit}>
        <TextField label="Name" name="name" required maxLength={255} autoFocus />
        <TextArea label="Description" name="description" rows={2} maxLength={2000} />
        <SelectField label="Visibility" name="visibility" defaultValue="private">
          <option value="private">Private: members only</option>
          <option value="internal">Internal: every user</option>
          <option value="public">Public: everybody</option>
        </SelectField>
        <CheckboxField label="Begin with a README" name="readme" defaultChecked />
        {create.isError && <Problem error={create.error} />}
        <ModalActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" disabled={create.isPending}>
            Create
          </Button>
        </ModalActions>
      </form>
    </Modal>
  )
}
