import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { getPage } from '../../../api/client'
import { textOf } from '../../../components/action-dialog'
import { Badge } from '../../../components/badge'
import { Button } from '../../../components/button'
import { CheckboxField, SelectField, TextArea, TextField } from '../../../components/fields'
import { Modal, ModalActions } from '../../../components/modal'
import { Empty, Shown } from '../../../components/states'
import type { TrustedIssuer } from '../../../generated/types.gen'
import { roleNames } from '../project-data'
import { useProjectPath } from '../project-frame'
import { ResourcePanel } from '../resource-panel'
import { mismatches, readClaims, readPatterns, tokenProblem } from './rule-match'

const scopes = ['api', 'read_api', 'read_repository', 'write_repository']
const accessLevels = [10, 20, 30, 40]

/**
 * The CI jobs that the project trusts by the identity tokens of their forge, and a check whether a given job
 * is one of them.
 */
export function TrustedIssuersPanel({ mayChange }: { mayChange: boolean }) {
  const address = `${useProjectPath()}/trusted_issuers`
  const [isTrying, setIsTrying] = useState(false)
  return (
    <>
      <ResourcePanel<TrustedIssuer>
        name="Trusted CI jobs"
        address={address}
        rowKey={({ id }) => id}
        empty={
          <Empty title="No CI job is trusted.">
            A rule lets jobs act here by the identity token of their forge, so that no secret has to be
            stored.
          </Empty>
        }
        columns={[
          {
            header: 'Name and issuer',
            cell: ({ name, issuer }) => (
              <>
                <span dir="auto">{name}</span>
                <span className="block break-all text-quiet">{issuer}</span>
              </>
            ),
          },
          { header: 'Claims', cell: ({ claims }) => <Patterns claims={claims} /> },
          {
            header: 'Audience',
            wide: true,
            cell: ({ audience }) => <bdi className="break-all">{audience}</bdi>,
          },
          { header: 'Role', wide: true, cell: ({ access_level }) => roleNames[access_level ?? 0] ?? 'none' },
          { header: 'Scopes', wide: true, cell: (rule) => rule.scopes.join(', ') },
          {
            header: 'State',
            cell: ({ active }) => (
              <Badge tone={active ? 'good' : 'plain'}>{active ? 'active' : 'ended'}</Badge>
            ),
          },
          { header: 'Ends', wide: true, cell: ({ expires_at }) => expires_at ?? 'never' },
        ]}
        add={
          mayChange ? { title: 'New rule for CI jobs', fields: <RuleFields />, bodyOf: ruleOf } : undefined
        }
        remove={
          mayChange
            ? {
                action: 'Distrust',
                nameOf: ({ name }) => name,
                idOf: ({ id }) => id,
                effect:
                  'Jobs of this rule are refused from now on, also those that are at work, and their bot leaves the project.',
              }
            : undefined
        }
      />
      <p className="mb-5">
        <Button onClick={() => setIsTrying(true)}>Try the claims of a job…</Button>
      </p>
      {isTrying && <TryDialog address={address} onClose={() => setIsTrying(false)} />}
    </>
  )
}

const Patterns = ({ claims }: Pick<TrustedIssuer, 'claims'>) => (
  <ul className="font-mono text-[13px]">
    {Object.entries(claims).map(([name, pattern]) => (
      <li key={name} className="break-all">
        {name}=<bdi>{pattern}</bdi>
      </li>
    ))}
  </ul>
)

const ruleOf = (form: FormData) => ({
  name: textOf(form, 'name'),
  issuer: textOf(form, 'issuer'),
  audience: textOf(form, 'audience') || undefined,
  claims: readPatterns(textOf(form, 'claims')),
  scopes: form.getAll('scopes').map(String),
  access_level: Number(textOf(form, 'level')),
  expires_at: textOf(form, 'expires_at') || undefined,
})

const RuleFields = () => (
  <>
    <TextField
      label="Name of the rule"
      name="name"
      required
      maxLength={255}
      hint="The bot of the jobs has it, too"
    />
    <TextField
      label="Issuer of the tokens"
      name="issuer"
      type="url"
      required
      placeholder="https://token.actions.githubusercontent.com"
      hint="Exactly as the claim iss has it. Administrators allow its host."
    />
    <TextArea
      label="Claims, one a line"
      name="claims"
      required
      className="font-mono"
      placeholder={'repository=acme/engine\nref=refs/heads/main'}
      hint="A name, = and the value; * stands for any characters. acme* also means acme-evil: write acme/*."
    />
    <TextField label="Audience" name="audience" maxLength={255} hint="Empty: the address of the project" />
    <SelectField label="Role of the jobs" name="level" defaultValue={30}>
      {accessLevels.map((level) => (
        <option key={level} value={level}>
          {roleNames[level]}
        </option>
      ))}
    </SelectField>
    <TextField label="Last day" name="expires_at" type="date" hint="Empty: the rule does not end." />
    <fieldset>
      <legend className="mb-1 text-sm font-medium">Scopes of the jobs</legend>
      {scopes.map((scope) => (
        <CheckboxField key={scope} label={scope} name="scopes" value={scope} />
      ))}
    </fieldset>
  </>
)

/**
 * Shows for each rule whether it admits a job with the given claims. Pasted text does not leave the browser.
 */
function TryDialog({ address, onClose }: { address: string; onClose: () => void }) {
  const [text, setText] = useState('')
  const claims = readClaims(text)
  const problem = tokenProblem(text, Math.floor(Date.now() / 1000))
  const rules = useQuery({
    queryKey: [address, 'all'],
    queryFn: ({ signal }) => getPage<TrustedIssuer>(address, { per_page: 100 }, signal),
  })
  return (
    <Modal title="Try the claims of a job" onClose={onClose} wide>
      <TextArea
        label="Identity token or its claims as JSON"
        value={text}
        onChange={(event) => setText(event.target.value)}
        className="font-mono"
        spellCheck={false}
        hint="It stays in this browser, which cannot check the signature of a token."
        problem={
          text.trim() !== '' && !claims ? 'This is neither an identity token nor a JSON object.' : undefined
        }
      />
      <div role="status">
        {claims && (
          <Shown query={rules}>
            {({ rows }) => <Verdicts rules={rows} claims={claims} problem={problem} />}
          </Shown>
        )}
      </div>
      <ModalActions>
        <Button onClick={onClose}>Close</Button>
      </ModalActions>
    </Modal>
  )
}

function Verdicts({
  rules,
  claims,
  problem: ofToken,
}: {
  rules: readonly TrustedIssuer[]
  claims: NonNullable<ReturnType<typeof readClaims>>
  problem: string | null
}) {
  if (rules.length === 0) return <p>There is no rule, so no job is trusted.</p>
  return (
    <ul className="grid gap-2 text-sm">
      {rules.map((rule) => {
        const problems = [...(ofToken === null ? [] : [ofToken]), ...mismatches(rule, claims)]
        return (
          <li key={rule.id}>
            <Badge tone={problems.length === 0 ? 'good' : 'plain'}>
              {problems.length === 0 ? 'trusted' : 'not trusted'}
            </Badge>{' '}
            <bdi>{rule.name}</bdi>
            {problems.map((problem) => (
              <span key={problem} dir="auto" className="block break-all text-quiet">
                {problem}
              </span>
            ))}
          </li>
        )
      })}
    </ul>
  )
}
