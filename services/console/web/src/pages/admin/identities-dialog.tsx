import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { send } from '../../api/client'
import { signInQuery } from '../../api/session'
import { textOf } from '../../components/action-dialog'
import { Button } from '../../components/button'
import { SelectField, TextField } from '../../components/fields'
import { Modal, ModalActions } from '../../components/modal'
import { Problem } from '../../components/states'
import type { User } from '../../generated/types.gen'
import { Identities } from './identity-parts'

/** Links a user to accounts at providers of single sign-on, and unlinks them. */
export function IdentitiesDialog({ user, onClose }: { user: User; onClose: () => void }) {
  const address = `/users/${user.id}/identities`
  return (
    <Modal title={`Sign-ins of ${user.username}`} onClose={onClose} wide>
      <Identities address={address} mayChange />
      <LinkForm address={address} />
      <ModalActions>
        <Button onClick={onClose}>Close</Button>
      </ModalActions>
    </Modal>
  )
}

function LinkForm({ address }: { address: string }) {
  const client = useQueryClient()
  const providers = useQuery(signInQuery).data?.providers ?? []
  const [problem, setProblem] = useState<unknown>()
  const link = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    const given = new FormData(form)
    setProblem(undefined)
    try {
      await send('POST', address, {
        provider: textOf(given, 'provider'),
        extern_uid: textOf(given, 'extern_uid'),
      })
      form.reset()
      await client.invalidateQueries()
    } catch (error) {
      setProblem(error)
    }
  }
  if (providers.length === 0) return null
  return (
    <form onSubmit={(event) => void link(event)} className="mt-4 border-t pt-4">
      <SelectField label="Provider" name="provider">
        {providers.map(({ name, label }) => (
          <option key={name} value={name}>
            {label}
          </option>
        ))}
      </SelectField>
      <TextField
        label="Subject"
        name="extern_uid"
        required
        maxLength={255}
        hint={
          <>
            <code>sub</code> of the account at the provider, which is never given to somebody else.
          </>
        }
      />
      {problem !== undefined && <Problem error={problem} />}
      <Button type="submit">Link</Button>
    </form>
  )
}
