import { useQueryClient } from '@tanstack/react-query'
import { send } from '../../api/client'
import { ActionDialog } from '../../components/action-dialog'
import { Badge } from '../../components/badge'
import { Button } from '../../components/button'
import type { Column } from '../../components/data-table'
import { Time } from '../../components/time'
import type { Token } from '../../generated/types.gen'

/** The scopes of tokens with their meanings. */
export const tokenScopes: readonly {
  name: string
  /** Label of the checkbox, when the name of the scope could be mistaken for a field. */
  label?: string
  meaning: string
}[] = [
  { name: 'api', meaning: 'everything that the user may do in the API, and git' },
  { name: 'read_api', meaning: 'reading in the API' },
  { name: 'read_user', label: 'own profile', meaning: 'reading who its holder is' },
  { name: 'read_repository', meaning: 'clone and fetch' },
  { name: 'write_repository', meaning: 'clone, fetch and push' },
  { name: 'self_rotate', meaning: 'replacing itself' },
  { name: 'read_metrics', meaning: 'figures of queues and services' },
  { name: 'read_sagas', meaning: 'reading sagas' },
  { name: 'saga_report', meaning: 'reporting sagas' },
  { name: 'manage_jobs', meaning: 'retrying and removing jobs of Switchyard' },
  { name: 'manage_broadcasts', meaning: 'posting, changing and removing broadcasts' },
]

/**
 * @param userOf returns the name of a user by id. Unset: all tokens belong to one user
 * @param onRevoke unset when the session may not revoke
 */
export function tokenColumns({
  userOf,
  onRevoke,
}: {
  userOf?: (id: number) => string
  onRevoke: ((token: Token) => void) | undefined
}): Column<Token>[] {
  const shown: Column<Token>[] = [
    { header: 'Name', cell: ({ name }) => <span dir="auto">{name}</span> },
    ...(userOf
      ? [{ header: 'User', cell: ({ user_id }: Token) => <span dir="auto">{userOf(user_id)}</span> }]
      : []),
    {
      header: 'Scopes',
      wide: true,
      cell: ({ scopes, tenants }) => (
        <span className="flex flex-wrap gap-1">
          {[...scopes, ...(tenants ?? []).map((tenant) => `tenant ${tenant}`)].map((text) => (
            <Badge key={text}>{text}</Badge>
          ))}
        </span>
      ),
    },
    {
      header: 'State',
      cell: ({ active, revoked }) => (
        <Badge tone={active ? 'good' : 'plain'}>{active ? 'active' : revoked ? 'revoked' : 'expired'}</Badge>
      ),
    },
    {
      header: 'Last used',
      wide: true,
      cell: ({ last_used_at }) => (last_used_at ? <Time at={last_used_at} /> : 'never'),
    },
    {
      header: 'Expires',
      wide: true,
      cell: ({ expires_at }) => <span className="whitespace-nowrap">{expires_at ?? 'never'}</span>,
    },
  ]
  const actions: Column<Token> = {
    header: 'Actions',
    cell: (token) => token.active && <Button onClick={() => onRevoke?.(token)}>Revoke</Button>,
  }
  return onRevoke ? [...shown, actions] : shown
}

export function RevokeDialog({ token, onClose }: { token: Token; onClose: () => void }) {
  const client = useQueryClient()
  return (
    <ActionDialog
      title={`Revoke ${token.name}`}
      action="Revoke"
      look="danger"
      onClose={onClose}
      run={async () => {
        await send('DELETE', `/personal_access_tokens/${token.id}`)
        await client.invalidateQueries({ queryKey: ['tokens'] })
        onClose()
      }}
    >
      <p>Every program that uses this token is refused from now on. This cannot be taken back.</p>
    </ActionDialog>
  )
}
