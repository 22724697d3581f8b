import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { get, send } from '../../api/client'
import { signInQuery } from '../../api/session'
import { ActionDialog } from '../../components/action-dialog'
import { Button } from '../../components/button'
import { type Column, DataTable } from '../../components/data-table'
import { Empty, Shown } from '../../components/states'
import { Time } from '../../components/time'
import type { Identity } from '../../generated/types.gen'

/** The accounts at providers by which a user signs in. @param address of the list in the API */
export function Identities({ address, mayChange }: { address: string; mayChange: boolean }) {
  const [unlinked, setUnlinked] = useState<Identity>()
  const labelOf = useProviderLabel()
  const identities = useQuery({
    queryKey: [address],
    queryFn: ({ signal }) => get<Identity[]>(address, {}, signal),
  })
  const shown: Column<Identity>[] = [
    { header: 'Provider', cell: ({ provider }) => <span dir="auto">{labelOf(provider)}</span> },
    { header: 'Subject', cell: ({ extern_uid }) => <span dir="auto">{extern_uid}</span> },
    { header: 'Linked', wide: true, cell: ({ created_at }) => <Time at={created_at} /> },
    {
      header: 'Last sign-in',
      wide: true,
      cell: ({ last_signed_in_at }) => (last_signed_in_at ? <Time at={last_signed_in_at} /> : 'never'),
    },
  ]
  const actions: Column<Identity> = {
    header: 'Actions',
    cell: (identity) => (
      <Button
        aria-label={`Unlink ${labelOf(identity.provider)} ${identity.extern_uid}`}
        onClick={() => setUnlinked(identity)}
      >
        Unlink
      </Button>
    ),
  }
  return (
    <>
      <Shown query={identities}>
        {(rows) => (
          <DataTable
            label="Sign-ins"
            columns={mayChange ? [...shown, actions] : shown}
            rows={rows}
            rowKey={({ id }) => id}
            empty={<Empty title="Nothing is linked.">Signing in works with a token only.</Empty>}
          />
        )}
      </Shown>
      {unlinked && (
        <UnlinkDialog
          address={address}
          identity={unlinked}
          label={labelOf(unlinked.provider)}
          onClose={() => setUnlinked(undefined)}
        />
      )}
    </>
  )
}

/** Returns the label of a provider by its name; the name itself when the provider is no longer configured. */
export function useProviderLabel(): (provider: string) => string {
  const providers = useQuery(signInQuery).data?.providers ?? []
  return (provider) => providers.find(({ name }) => name === provider)?.label ?? provider
}

function UnlinkDialog({
  address,
  identity,
  label,
  onClose,
}: {
  address: string
  identity: Identity
  label: string
  onClose: () => void
}) {
  const client = useQueryClient()
  const run = async () => {
    await send('DELETE', `${address}/${identity.id}`)
    await client.invalidateQueries()
    onClose()
  }
  return (
    <ActionDialog title={`Unlink ${label}`} action="Unlink" look="danger" run={run} onClose={onClose}>
      <p>
        Nobody signs in here as <bdi>{identity.extern_uid}</bdi> of <bdi>{label}</bdi> any more. The sessions
        that began so end, and so do the roles that its groups have given.
      </p>
    </ActionDialog>
  )
}
