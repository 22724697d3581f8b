import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { getPage, send } from '../../api/client'
import { signInQuery, useSession } from '../../api/session'
import { Badge } from '../../components/badge'
import { Button } from '../../components/button'
import { PagedTable } from '../../components/data-table'
import { guarded } from '../../components/guarded'
import { Page, Panel } from '../../components/page'
import { Empty, Problem } from '../../components/states'
import { Time } from '../../components/time'
import type { Token } from '../../generated/types.gen'
import { pageOf } from '../../lib/search-params'
import { Identities } from '../admin/identity-parts'
import { NewTokenDialog } from '../admin/new-token-dialog'
import { RevokeDialog, tokenColumns } from '../admin/token-parts'

const route = getRouteApi('/account')

/** The page of a user's own account: their ways to sign in, and their tokens. */
export const AccountPage = guarded('tokens', Account)

function Account() {
  const { user, scopes, expires_at, provider } = useSession()
  const ways = useQuery(signInQuery).data
  const mayChange = scopes.includes('api')
  if (!user) return null
  const label = ways?.providers.find(({ name }) => name === provider)?.label ?? provider
  return (
    <Page title="Account">
      <Panel name="Session">
        <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <span dir="auto" className="font-medium">
            {user.name}
          </span>
          <span className="text-quiet">{user.username}</span>
          {user.is_admin && <Badge tone="busy">administrator</Badge>}
        </p>
        <p className="mt-1 text-sm text-quiet">
          Signed in{' '}
          {label === undefined ? (
            'with a token'
          ) : (
            <>
              by <bdi>{label}</bdi>
            </>
          )}
          {expires_at && (
            <>
              ; the session ends <Time at={expires_at} />
            </>
          )}
          .
        </p>
      </Panel>
      {ways && ways.providers.length > 0 && (
        <Panel name="Single sign-on" flush actions={mayChange && <LinkButtons providers={ways.providers} />}>
          <Identities address="/user/identities" mayChange={mayChange} />
        </Panel>
      )}
      <Tokens userId={user.id} ownDaysMax={(mayChange && ways?.own_token_days_max) || undefined} />
    </Page>
  )
}

/** A button for each provider, which leads the browser there and back. */
function LinkButtons({ providers }: { providers: readonly { name: string; label: string }[] }) {
  const [problem, setProblem] = useState<unknown>()
  const link = async (provider: string) => {
    setProblem(undefined)
    try {
      const next = '/console/account'
      const body = { provider, next }
      const { authorization_url } = await send<{ authorization_url: string }>(
        'POST',
        '/user/identities',
        body,
      )
      location.assign(authorization_url)
    } catch (error) {
      setProblem(error)
    }
  }
  return (
    <>
      {providers.map(({ name, label }) => (
        <Button key={name} onClick={() => void link(name)}>
          <span dir="auto">Link {label}</span>
        </Button>
      ))}
      {problem !== undefined && <Problem error={problem} />}
    </>
  )
}

function Tokens({ userId, ownDaysMax }: { userId: number; ownDaysMax: number | undefined }) {
  const { scopes } = useSession()
  const page = pageOf(route.useSearch().page)
  const navigate = route.useNavigate()
  const [isNew, setIsNew] = useState(false)
  const [revoked, setRevoked] = useState<Token>()
  const tokens = useQuery({
    queryKey: ['tokens', 'own', page],
    queryFn: ({ signal }) =>
      getPage<Token>('/personal_access_tokens', { user_id: userId, page, per_page: 50 }, signal),
    placeholderData: (before) => before,
  })
  return (
    <Panel
      name="Access tokens"
      flush
      actions={ownDaysMax !== undefined && <Button onClick={() => setIsNew(true)}>New token</Button>}
    >
      <PagedTable
        label="Access tokens"
        query={tokens}
        page={page}
        onMove={(next) => void navigate({ search: { page: String(next) } })}
        rowKey={({ id }) => id}
        columns={tokenColumns({ onRevoke: scopes.includes('api') ? setRevoked : undefined })}
        empty={
          <Empty title="You have no tokens.">
            {ownDaysMax === undefined
              ? 'Administrators make them here.'
              : 'Programs and git use one in your name.'}
          </Empty>
        }
      />
      {isNew && ownDaysMax !== undefined && (
        <NewTokenDialog ownDaysMax={ownDaysMax} onClose={() => setIsNew(false)} />
      )}
      {revoked && <RevokeDialog token={revoked} onClose={() => setRevoked(undefined)} />}
    </Panel>
  )
}
