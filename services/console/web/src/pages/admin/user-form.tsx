import { useQuery } from '@tanstack/react-query'
import { getVersioned, type Versioned } from '../../api/client'
import { ActionDialog, textOf } from '../../components/action-dialog'
import { CheckboxField, TextField } from '../../components/fields'
import { Modal } from '../../components/modal'
import { Shown } from '../../components/states'
import type { User } from '../../generated/types.gen'
import { useEdit } from '../../lib/edit-version'

interface Fields {
  username: string
  name: string
  email: string
  admin: boolean
}

export function UserForm({
  title,
  action,
  first,
  save,
  done,
  onClose,
}: {
  title: string
  action: string
  /** Unset: a new user. */
  first?: Fields
  save: (fields: Fields) => Promise<unknown>
  done: () => Promise<void>
  onClose: () => void
}) {
  const run = async (form: FormData) => {
    await save({
      username: textOf(form, 'username'),
      name: textOf(form, 'name'),
      email: textOf(form, 'email'),
      admin: form.get('admin') === 'on',
    })
    await done()
  }
  return (
    <ActionDialog title={title} action={action} run={run} onClose={onClose}>
      <TextField label="Username" name="username" required maxLength={255} defaultValue={first?.username} />
      <TextField label="Name" name="name" required maxLength={255} defaultValue={first?.name} />
      <TextField
        label="Email"
        name="email"
        type="email"
        required
        maxLength={255}
        defaultValue={first?.email}
      />
      <CheckboxField label="Administrator" name="admin" defaultChecked={first?.admin} />
    </ActionDialog>
  )
}

/** Changes a user, whose version is read when the dialog opens. */
export function EditDialog({
  id,
  done,
  onClose,
}: {
  id: number
  done: () => Promise<void>
  onClose: () => void
}) {
  const user = useQuery({
    queryKey: ['user', id],
    queryFn: ({ signal }) => getVersioned<User>(`/users/${id}`, signal),
    // Typed text must not be replaced.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  if (user.data) return <StoredUser found={user.data} done={done} onClose={onClose} />
  return (
    <Modal title="Edit user" onClose={onClose}>
      <Shown query={user}>{() => null}</Shown>
    </Modal>
  )
}

const fieldsOf = ({ username, name, email, is_admin }: User): Fields => ({
  username,
  // Fields return their text trimmed.
  name: name.trim(),
  email,
  admin: is_admin,
})

function StoredUser({
  found,
  done,
  onClose,
}: {
  found: Versioned<User>
  done: () => Promise<void>
  onClose: () => void
}) {
  const { first, save } = useEdit(`/users/${found.resource.id}`, found, fieldsOf)
  return <UserForm title="Edit user" action="Save" first={first} save={save} done={done} onClose={onClose} />
}
