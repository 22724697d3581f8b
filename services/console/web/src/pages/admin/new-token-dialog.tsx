import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { send } from '../../api/client'
import { useSession } from '../../api/session'
import { ActionDialog, linesOf, textOf } from '../../components/action-dialog'
import { ChoiceField } from '../../components/choice-field'
import { CheckboxField, TextArea, TextField } from '../../components/fields'
import { SecretDialog } from '../../components/secret-dialog'
import type { IssuedToken } from '../../generated/types.gen'
import { tokenScopes } from './token-parts'
import { findUser, usernamesQuery } from './user-names'

/** Scopes that `api` includes, which users can grant. */
const ownScopes = new Set([
  'api',
  'read_api',
  'read_user',
  'read_repository',
  'write_repository',
  'self_rotate',
])

/**
 * Creates a token, for any user or for oneself, and shows its secret once.
 *
 * @param ownDaysMax the longest lifetime of an own token
 */
export function NewTokenDialog({ ownDaysMax, onClose }: { ownDaysMax?: number; onClose: () => void }) {
  const isOwn = ownDaysMax !== undefined
  const client = useQueryClient()
  const { provider } = useSession()
  const shownScopes = isOwn ? tokenScopes.filter(({ name }) => ownScopes.has(name)) : tokenScopes
  const [issued, setIssued] = useState<IssuedToken>()
  if (issued) return <SecretDialog name={issued.name} secret={issued.token} onClose={onClose} />
  const create = async (form: FormData) => {
    const tenants = linesOf(form, 'tenants')
    const body = {
      name: textOf(form, 'name'),
      expires_at: textOf(form, 'expires_at') || undefined,
      scopes: form.getAll('scopes').map(String),
      tenants: tenants.length > 0 ? tenants : undefined,
    }
    const holder = isOwn ? 'user' : `users/${(await findUser(textOf(form, 'user'))).id}`
    const token = await send<IssuedToken>('POST', `/${holder}/personal_access_tokens`, body)
    await client.invalidateQueries({ queryKey: ['tokens'] })
    setIssued(token)
  }
  return (
    <ActionDialog title="New token" action="Create" run={create} onClose={onClose}>
      {!isOwn && (
        <ChoiceField
          label="User"
          name="user"
          required
          maxLength={255}
          find={usernamesQuery}
          hint="The username; a part of it or of the name finds it"
        />
      )}
      <TextField label="Name" name="name" required maxLength={255} hint="What the token is for" />
      <TextField
        label="Expires"
        name="expires_at"
        type="date"
        hint={
          isOwn
            ? `Its last day, at most ${ownDaysMax} days from now${provider ? '' : ', and not after that of the token you signed in with'}. Empty: the latest possible.`
            : 'Its last day. Empty: it does not expire.'
        }
      />
      <fieldset>
        <legend className="mb-1 text-sm font-medium">Scopes</legend>
        {shownScopes.map(({ name, label = name, meaning }) => (
          <div key={name} className="flex gap-x-3">
            <span className="w-40 shrink-0">
              <CheckboxField label={label} name="scopes" value={name} />
            </span>
            <span className="mb-1.5 text-sm text-quiet">
              {label !== name && `${name}: `}
              {meaning}
            </span>
          </div>
        ))}
      </fieldset>
      {!isOwn && (
        <TextArea
          label="Tenants of sagas"
          name="tenants"
          rows={2}
          hint="The only ones that the token may name, one a line. Empty: every tenant."
        />
      )}
    </ActionDialog>
  )
}
