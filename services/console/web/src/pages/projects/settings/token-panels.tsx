import { useState } from 'react'
import { textOf } from '../../../components/action-dialog'
import { Badge } from '../../../components/badge'
import { CheckboxField, SelectField, TextField } from '../../../components/fields'
import { SecretDialog } from '../../../components/secret-dialog'
import { Empty } from '../../../components/states'
import { Time } from '../../../components/time'
import type {
  DeployToken,
  IssuedDeployToken,
  IssuedProjectToken,
  ProjectToken,
} from '../../../generated/types.gen'
import { roleNames } from '../project-data'
import { useProjectPath } from '../project-frame'
import { ResourcePanel } from '../resource-panel'

const revoking = {
  action: 'Revoke',
  effect: 'Every program that uses this token is refused from now on. This cannot be taken back.',
}

const NameField = () => (
  <TextField label="Name" name="name" required maxLength={255} hint="What the token is for" />
)

const ExpiryField = () => (
  <TextField label="Expires" name="expires_at" type="date" hint="Its last day. Empty: it does not expire." />
)

const Scopes = ({ scopes }: { scopes: readonly string[] }) => (
  <span className="flex flex-wrap gap-1">
    {scopes.map((scope) => (
      <Badge key={scope}>{scope}</Badge>
    ))}
  </span>
)

export function DeployTokensPanel({ mayChange }: { mayChange: boolean }) {
  const [made, setMade] = useState<IssuedDeployToken>()
  return (
    <>
      <ResourcePanel<DeployToken, IssuedDeployToken>
        name="Deploy tokens"
        address={`${useProjectPath()}/deploy_tokens`}
        rowKey={({ id }) => id}
        empty={
          <Empty title="There are no deploy tokens.">A server that only fetches this project uses one.</Empty>
        }
        columns={[
          { header: 'Name', cell: ({ name }) => <span dir="auto">{name}</span> },
          {
            header: 'User name',
            cell: ({ username }) => <code className="font-mono text-[13px]">{username}</code>,
          },
          { header: 'Scopes', wide: true, cell: ({ scopes }) => <Scopes scopes={scopes} /> },
          { header: 'State', cell: (token) => <DeployTokenState token={token} /> },
          { header: 'Expires', wide: true, cell: ({ expires_at }) => expires_at?.slice(0, 10) ?? 'never' },
        ]}
        add={
          mayChange
            ? {
                title: 'New deploy token',
                fields: (
                  <>
                    <NameField />
                    <ExpiryField />
                  </>
                ),
                bodyOf: (form) => ({
                  name: textOf(form, 'name'),
                  scopes: ['read_repository'],
                  expires_at: textOf(form, 'expires_at') || null,
                }),
                onMade: setMade,
              }
            : undefined
        }
        remove={mayChange ? { ...revoking, nameOf: ({ name }) => name, idOf: ({ id }) => id } : undefined}
      />
      {made && (
        <SecretDialog
          name={made.name}
          user={made.username}
          secret={made.token}
          onClose={() => setMade(undefined)}
        />
      )}
    </>
  )
}

function DeployTokenState({ token: { revoked, expired } }: { token: DeployToken }) {
  if (revoked) return <Badge>revoked</Badge>
  return expired ? <Badge>expired</Badge> : <Badge tone="good">active</Badge>
}

const accessScopes = ['api', 'read_api', 'read_repository', 'write_repository', 'self_rotate']
const accessLevels = [10, 20, 30, 40]

export function AccessTokensPanel({ mayChange }: { mayChange: boolean }) {
  const [made, setMade] = useState<IssuedProjectToken>()
  return (
    <>
      <ResourcePanel<ProjectToken, IssuedProjectToken>
        name="Access tokens"
        address={`${useProjectPath()}/access_tokens`}
        rowKey={({ id }) => id}
        empty={
          <Empty title="There are no access tokens.">
            A program that works with this project alone uses one.
          </Empty>
        }
        columns={[
          { header: 'Name', cell: ({ name }) => <span dir="auto">{name}</span> },
          { header: 'Role', cell: ({ access_level }) => roleNames[access_level ?? 0] },
          { header: 'Scopes', wide: true, cell: ({ scopes }) => <Scopes scopes={scopes} /> },
          {
            header: 'State',
            cell: ({ active }) => (
              <Badge tone={active ? 'good' : 'plain'}>{active ? 'active' : 'expired'}</Badge>
            ),
          },
          {
            header: 'Last used',
            wide: true,
            cell: ({ last_used_at }) => (last_used_at ? <Time at={last_used_at} /> : 'never'),
          },
          { header: 'Expires', wide: true, cell: ({ expires_at }) => expires_at ?? 'never' },
        ]}
        add={
          mayChange
            ? {
                title: 'New access token',
                fields: <AccessTokenFields />,
                bodyOf: (form) => ({
                  name: textOf(form, 'name'),
                  scopes: form.getAll('scopes').map(String),
                  access_level: Number(textOf(form, 'level')),
                  expires_at: textOf(form, 'expires_at') || null,
                }),
                onMade: setMade,
              }
            : undefined
        }
        remove={mayChange ? { ...revoking, nameOf: ({ name }) => name, idOf: ({ id }) => id } : undefined}
      />
      {made && <SecretDialog name={made.name} secret={made.token} onClose={() => setMade(undefined)} />}
    </>
  )
}

const AccessTokenFields = () => (
  <>
    <NameField />
    <SelectField label="Role" name="level" defaultValue={30}>
      {accessLevels.map((level) => (
        <option key={level} value={level}>
          {roleNames[level]}
        </option>
      ))}
    </SelectField>
    <ExpiryField />
    <fieldset>
      <legend className="mb-1 text-sm font-medium">Scopes</legend>
      {accessScopes.map((scope) => (
        <CheckboxField key={scope} label={scope} name="scopes" value={scope} />
      ))}
    </fieldset>
  </>
)
