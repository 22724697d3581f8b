import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { get, send } from '../../api/client'
import { useSession } from '../../api/session'
import { Button } from '../../components/button'
import { TextField } from '../../components/fields'
import { guarded } from '../../components/guarded'
import { Fact, Page, Panel } from '../../components/page'
import { isMissing, Loading, Problem } from '../../components/states'
import { Time } from '../../components/time'
import type { DeviceAuthorization } from '../../generated/types.gen'
import { tokenScopes } from '../admin/token-parts'

const route = getRouteApi('/device')

/** The page on which a user decides whether a program, such as `switchyard login`, gets a token. */
export const DevicePage = guarded('tokens', Device)

function Device() {
  const { user_code: code } = route.useSearch()
  return (
    <div className="mx-auto max-w-xl pt-6">
      <Page title="Sign in a program">
        {code ? <Request key={code} code={code} /> : <CodeForm hint="The program shows it." />}
      </Page>
    </div>
  )
}

function CodeForm({ hint, problem }: { hint: string; problem?: string }) {
  const navigate = route.useNavigate()
  const look = (form: FormData) =>
    void navigate({ search: { user_code: String(form.get('user_code') ?? '').trim() } })
  return (
    <form action={look} className="rounded-lg border bg-panel p-5">
      <TextField
        label="Code"
        name="user_code"
        required
        maxLength={20}
        spellCheck={false}
        className="font-mono uppercase"
        hint={hint}
        problem={problem}
      />
      <Button type="submit" look="primary">
        Continue
      </Button>
    </form>
  )
}

function Request({ code }: { code: string }) {
  // The API limits the wrong codes of a user, so a code is never requested again automatically.
  const request = useQuery({
    queryKey: ['device-authorization', code],
    queryFn: ({ signal }) =>
      get<DeviceAuthorization>('/user/device_authorization', { user_code: code }, signal),
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  })
  if (isMissing(request.error))
    return (
      <CodeForm
        hint=""
        problem="No program waits with this code. The code may have expired or been used, or this Switchyard signs in no programs."
      />
    )
  if (request.isError) return <Problem error={request.error} />
  return request.data ? <Decision code={code} request={request.data} /> : <Loading />
}

function Decision({ code, request }: { code: string; request: DeviceAuthorization }) {
  const { user, scopes } = useSession()
  const [decided, setDecided] = useState<'allow' | 'deny'>()
  const [problem, setProblem] = useState<unknown>()
  const [isBusy, setIsBusy] = useState(false)
  const decide = async (decision: 'allow' | 'deny') => {
    setIsBusy(true)
    setProblem(undefined)
    try {
      await send('POST', `/user/device_authorization/${decision}`, { user_code: code })
      setDecided(decision)
    } catch (error) {
      setProblem(error)
    }
    setIsBusy(false)
  }
  if (decided !== undefined) return <Outcome isAllowed={decided === 'allow'} />
  return (
    <Panel name="A program asks for a token of yours">
      <Facts request={request} code={code} username={user?.username ?? ''} />
      <p className="my-4 rounded-md bg-warn-soft px-3 py-2">
        Allow it only if you have just started the program yourself and it shows this code. With the token,
        the program acts in your name. Deny it when somebody has sent you the code or a link.
      </p>
      {problem !== undefined && <Problem error={problem} />}
      <div className="mt-3 flex flex-wrap gap-2">
        {scopes.includes('api') ? (
          <>
            <Button look="primary" disabled={isBusy} onClick={() => void decide('allow')}>
              Allow
            </Button>
            <Button disabled={isBusy} onClick={() => void decide('deny')}>
              Deny
            </Button>
          </>
        ) : (
          <p>This session may only read: sign in with a token of the scope api to decide.</p>
        )}
      </div>
    </Panel>
  )
}

function Facts({
  request,
  code,
  username,
}: {
  request: DeviceAuthorization
  code: string
  username: string
}) {
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-2">
      <Fact name="Code">
        <code>{code}</code>
      </Fact>
      <Fact name="Program">
        <bdi className="font-medium break-all">{request.client_name}</bdi>{' '}
        <span className="text-quiet">(in its own words)</span>
      </Fact>
      <Fact name="Address">{request.ip_address}</Fact>
      <Fact name="Asked">
        <Time at={request.created_at} />
      </Fact>
      <Fact name="Signs in as">{username}</Fact>
      <Fact name="May do">
        <ul>
          {request.scopes.map((scope) => (
            <li key={scope}>
              <code>{scope}</code>{' '}
              <span className="text-quiet">{tokenScopes.find(({ name }) => name === scope)?.meaning}</span>
            </li>
          ))}
        </ul>
      </Fact>
      <Fact name="Until">{request.token_expires_at}</Fact>
    </dl>
  )
}

const Outcome = ({ isAllowed }: { isAllowed: boolean }) => (
  <p role="status" className="rounded-lg border bg-panel p-5">
    {isAllowed
      ? 'Allowed. The program goes on by itself; you can close this page. Its token is on the page Account, where you can revoke it.'
      : 'Denied. The program gets no token.'}
  </p>
)
