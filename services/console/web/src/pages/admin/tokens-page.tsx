import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { getPage } from '../../api/client'
import { mayUse, signInQuery, useSession } from '../../api/session'
import { Button } from '../../components/button'
import { ChoiceFilter } from '../../components/choice-field'
import { PagedTable } from '../../components/data-table'
import { FilterSelect } from '../../components/fields'
import { guarded } from '../../components/guarded'
import { Page, Panel } from '../../components/page'
import { SearchBox } from '../../components/search-box'
import { Empty, Problem } from '../../components/states'
import type { Token } from '../../generated/types.gen'
import { countOf } from '../../lib/format'
import { pageOf } from '../../lib/search-params'
import { NewTokenDialog } from './new-token-dialog'
import { RevokeDialog, tokenColumns } from './token-parts'
import { findUser, usernamesQuery, useUsername, useUsernames } from './user-names'

const route = getRouteApi('/admin/tokens')

export const TokensPage = guarded('tokens', Tokens)

function Tokens() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const session = useSession()
  const isAdmin = mayUse(session, 'users')
  const mayChange = session.scopes.includes('api')
  const ownDaysMax = useQuery(signInQuery).data?.own_token_days_max ?? undefined
  const mayMake = mayChange && (isAdmin || ownDaysMax !== undefined)
  const page = pageOf(search.page)
  const [isNew, setIsNew] = useState(false)
  const [revoked, setRevoked] = useState<Token>()
  const { q, state, user_id, sort } = search
  const tokens = useQuery({
    queryKey: ['tokens', search],
    queryFn: ({ signal }) =>
      getPage<Token>(
        '/personal_access_tokens',
        { search: q, state, user_id, sort, page, per_page: 50 },
        signal,
      ),
    placeholderData: (before) => before,
  })
  const names = useUsernames(tokens.data?.rows.map((token) => token.user_id) ?? [])
  const userOf = (id: number) => names.get(id) ?? `user ${id}`
  const move = (part: typeof search) => void navigate({ search: { ...search, page: undefined, ...part } })
  return (
    <Page
      title="Tokens"
      actions={
        mayMake && (
          <Button look="primary" onClick={() => setIsNew(true)}>
            New token
          </Button>
        )
      }
    >
      <div className="mb-4 flex flex-wrap gap-2">
        <SearchBox value={q} onChange={(value) => move({ q: value })} placeholder="Name of the token" />
        <FilterSelect
          label="State"
          all="Every state"
          value={state}
          options={['active', 'inactive']}
          onChange={(value) => move({ state: value })}
        />
        {isAdmin && <UserFilter id={user_id} onChange={(value) => move({ user_id: value })} />}
      </div>
      {isAdmin && <OwnTokensNote daysMax={ownDaysMax} />}
      <Panel name="All tokens" flush busy={tokens.isFetching}>
        <PagedTable
          label="Tokens"
          query={tokens}
          page={page}
          onMove={(next) => move({ page: String(next) })}
          rowKey={({ id }) => id}
          columns={tokenColumns({ userOf, onRevoke: mayChange ? setRevoked : undefined })}
          empty={<Empty title="No token fits.">Search for another name, or take a filter away.</Empty>}
        />
      </Panel>
      {isNew && (
        <NewTokenDialog {...(!isAdmin && ownDaysMax && { ownDaysMax })} onClose={() => setIsNew(false)} />
      )}
      {revoked && <RevokeDialog token={revoked} onClose={() => setRevoked(undefined)} />}
    </Page>
  )
}

/** A note about what users may do without an administrator. */
const OwnTokensNote = ({ daysMax }: { daysMax: number | undefined }) => (
  <p className="mb-4 text-sm text-quiet">
    {daysMax === undefined
      ? 'Only administrators make tokens: '
      : `Users make tokens for themselves, which live for ${countOf(daysMax, 'day')} at most: `}
    <code>USER_TOKEN_LIFETIME_DAYS_MAX</code> in the settings says so.
  </p>
)

/** The choice of the user whose tokens are shown. */
function UserFilter({
  id,
  onChange,
}: {
  id: string | undefined
  onChange: (id: string | undefined) => void
}) {
  const username = useUsername(id === undefined ? undefined : Number(id))
  const [problem, setProblem] = useState<unknown>()
  const choose = async (name: string | undefined) => {
    setProblem(undefined)
    try {
      onChange(name && String((await findUser(name)).id))
    } catch (error) {
      setProblem(error)
    }
  }
  return (
    <>
      <ChoiceFilter
        label="User"
        all="Every user"
        value={id && (username ?? `user ${id}`)}
        onChange={(name) => void choose(name)}
        find={usernamesQuery}
      />
      {problem !== undefined && <Problem error={problem} />}
    </>
  )
}
