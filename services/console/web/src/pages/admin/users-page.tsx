import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { getPage, send } from '../../api/client'
import { signInQuery, useSession } from '../../api/session'
import { ActionDialog } from '../../components/action-dialog'
import { Badge, State } from '../../components/badge'
import { Button } from '../../components/button'
import { type Column, DataTable } from '../../components/data-table'
import { CheckboxField, FilterSelect } from '../../components/fields'
import { guarded } from '../../components/guarded'
import { Page, Panel } from '../../components/page'
import { Pager } from '../../components/pager'
import { SearchBox } from '../../components/search-box'
import { Empty, Shown } from '../../components/states'
import { TextLink } from '../../components/text-link'
import { Time } from '../../components/time'
import type { User } from '../../generated/types.gen'
import { pageOf } from '../../lib/search-params'
import { IdentitiesDialog } from './identities-dialog'
import { useProviderLabel } from './identity-parts'
import { EditDialog, UserForm } from './user-form'

const route = getRouteApi('/admin/users')

export const UsersPage = guarded('users', Users)

type Dialog = { kind: 'new' } | { kind: 'edit' | 'sign-ins' | 'block' | 'delete'; user: User } | undefined

function Users() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const session = useSession()
  const mayChange = session.scopes.includes('api')
  const hasProviders = (useQuery(signInQuery).data?.providers ?? []).length > 0
  const page = pageOf(search.page)
  const [dialog, setDialog] = useState<Dialog>()
  const users = useQuery({
    queryKey: ['users', search],
    queryFn: ({ signal }) => {
      const { q, active, blocked, order_by, sort } = search
      return getPage<User>(
        '/users',
        { search: q, active, blocked, order_by, sort, page, per_page: 50 },
        signal,
      )
    },
    placeholderData: (before) => before,
  })
  const move = (part: typeof search) => void navigate({ search: { ...search, page: undefined, ...part } })
  const state = search.blocked === 'true' ? 'blocked' : search.active === 'true' ? 'active' : undefined
  return (
    <Page
      title="Users"
      actions={
        mayChange && (
          <Button look="primary" onClick={() => setDialog({ kind: 'new' })}>
            New user
          </Button>
        )
      }
    >
      <div className="mb-4 flex flex-wrap gap-2">
        <SearchBox value={search.q} onChange={(q) => move({ q })} placeholder="Name, username or email" />
        <FilterSelect
          label="State"
          all="Every state"
          value={state}
          options={['active', 'blocked']}
          onChange={(value) =>
            move({
              active: value === 'active' ? 'true' : undefined,
              blocked: value === 'blocked' ? 'true' : undefined,
            })
          }
        />
      </div>
      <Shown query={users}>
        {({ rows, nextPage, total }) => (
          <Panel name="All users" flush busy={users.isFetching}>
            <DataTable
              label="Users"
              rows={rows}
              rowKey={({ id }) => id}
              columns={columnsFor({ mayChange, hasProviders, ownId: session.user?.id, open: setDialog })}
              empty={<Empty title="No user fits.">Search for another name, or take a filter away.</Empty>}
            />
            <Pager
              page={page}
              nextPage={nextPage}
              total={total}
              onMove={(next) => move({ page: String(next) })}
            />
          </Panel>
        )}
      </Shown>
      <UserDialog dialog={dialog} onClose={() => setDialog(undefined)} />
    </Page>
  )
}

function columnsFor({
  mayChange,
  hasProviders,
  ownId,
  open,
}: {
  mayChange: boolean
  hasProviders: boolean
  ownId: number | undefined
  open: (dialog: Dialog) => void
}): Column<User>[] {
  const shown: Column<User>[] = [
    {
      header: 'Username',
      cell: ({ id, username }) => (
        <TextLink to="/admin/tokens" search={{ user_id: String(id) }} dir="auto">
          {username}
        </TextLink>
      ),
    },
    { header: 'Name', wide: true, cell: ({ name }) => <span dir="auto">{name}</span> },
    { header: 'Email', wide: true, cell: ({ email }) => email },
    {
      header: 'State',
      cell: ({ state, is_admin, bot }) => (
        <span className="flex flex-wrap gap-1">
          <State of={state} />
          {is_admin && <Badge tone="busy">administrator</Badge>}
          {bot && <Badge>bot</Badge>}
        </span>
      ),
    },
    { header: 'Sign-ins', wide: true, cell: (user) => <SignIns user={user} /> },
    { header: 'Created', wide: true, cell: ({ created_at }) => <Time at={created_at} /> },
  ]
  const actions: Column<User> = {
    header: 'Actions',
    cell: (user) => (
      <span className="flex flex-wrap gap-2">
        <Button onClick={() => open({ kind: 'edit', user })}>Edit</Button>
        {hasProviders && !user.bot && (
          <Button onClick={() => open({ kind: 'sign-ins', user })}>Sign-ins…</Button>
        )}
        {user.id !== ownId && (
          <>
            <Button onClick={() => open({ kind: 'block', user })}>
              {user.state === 'blocked' ? 'Unblock' : 'Block'}
            </Button>
            <Button onClick={() => open({ kind: 'delete', user })}>Delete…</Button>
          </>
        )}
      </span>
    ),
  }
  return mayChange ? [...shown, actions] : shown
}

/** The accounts at providers by which a user signs in. */
function SignIns({ user: { identities } }: { user: User }) {
  const labelOf = useProviderLabel()
  if (identities.length === 0) return <span className="text-quiet">–</span>
  return (
    <ul className="wrap-anywhere">
      {identities.map(({ provider, extern_uid }) => (
        <li key={`${provider} ${extern_uid}`}>
          <bdi>{labelOf(provider)}</bdi>: <bdi>{extern_uid}</bdi>
        </li>
      ))}
    </ul>
  )
}

function UserDialog({ dialog, onClose }: { dialog: Dialog; onClose: () => void }) {
  const client = useQueryClient()
  const done = async () => {
    await client.invalidateQueries({ queryKey: ['users'] })
    onClose()
  }
  if (!dialog) return null
  if (dialog.kind === 'block') return <BlockDialog user={dialog.user} done={done} onClose={onClose} />
  if (dialog.kind === 'delete') return <DeleteDialog user={dialog.user} done={done} onClose={onClose} />
  if (dialog.kind === 'sign-ins') return <IdentitiesDialog user={dialog.user} onClose={onClose} />
  if (dialog.kind === 'edit') return <EditDialog id={dialog.user.id} done={done} onClose={onClose} />
  return (
    <UserForm
      title="New user"
      action="Create"
      save={(fields) => send('POST', '/users', fields)}
      done={done}
      onClose={onClose}
    />
  )
}

function BlockDialog({
  user,
  done,
  onClose,
}: {
  user: User
  done: () => Promise<void>
  onClose: () => void
}) {
  const isBlocked = user.state === 'blocked'
  const verb = isBlocked ? 'Unblock' : 'Block'
  return (
    <ActionDialog
      title={`${verb} ${user.username}`}
      action={verb}
      look={isBlocked ? 'primary' : 'danger'}
      onClose={onClose}
      run={async () => {
        await send('POST', `/users/${user.id}/${isBlocked ? 'unblock' : 'block'}`)
        await done()
      }}
    >
      <p>
        {isBlocked
          ? 'The tokens and sessions of this user work again.'
          : 'Every token and session of this user is refused from now on, and work under way is cut. Nothing is deleted.'}
      </p>
    </ActionDialog>
  )
}

function DeleteDialog({
  user,
  done,
  onClose,
}: {
  user: User
  done: () => Promise<void>
  onClose: () => void
}) {
  return (
    <ActionDialog
      title={`Delete ${user.username}`}
      action="Delete for good"
      look="danger"
      onClose={onClose}
      run={async (form) => {
        const options = new URLSearchParams()
        if (form.has('hard_delete')) options.set('hard_delete', 'true')
        if (form.has('erase')) options.set('erase', 'true')
        await send('DELETE', `/users/${user.id}?${options}`)
        await done()
      }}
    >
      <p className="mb-3">
        Tokens, sessions and memberships of this user are deleted. What the user wrote in projects stays, but
        names nobody; commits keep their authors. This cannot be undone.
      </p>
      <CheckboxField name="hard_delete" label="Delete the projects of this user, too" />
      <CheckboxField
        name="erase"
        label={`Take the user's names and addresses out of the audit log and of sagas, which then say “deleted user ${user.id}”`}
      />
    </ActionDialog>
  )
}
