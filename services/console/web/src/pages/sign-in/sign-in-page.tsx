import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useRouter } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { send } from '../../api/client'
import { type Session, sessionQuery, signInQuery, useSession } from '../../api/session'
import { Button } from '../../components/button'
import { Page } from '../../components/page'
import { sentenceOf } from '../../components/states'
import { TokenField } from '../../components/token-field'
import { ProviderButtons, refusalText } from './provider-buttons'

const route = getRouteApi('/sign-in')

/**
 * Returns the address to go to after the sign-in. Only addresses of the console are used, so that a link to
 * this page cannot lead to another site.
 */
function safeNext(next: string | undefined): string {
  const url = next && URL.canParse(next, location.origin) ? new URL(next, location.origin) : undefined
  const isOurs = url?.origin === location.origin && /^\/console(\/|$)/.test(url.pathname)
  return isOurs ? url.pathname + url.search + url.hash : '/console/'
}

export function SignInPage() {
  const { next, problem: refusal, by } = route.useSearch()
  const ways = useQuery(signInQuery).data
  const router = useRouter()
  const client = useQueryClient()
  const { user } = useSession()
  const [problem, setProblem] = useState<string>()
  const [busy, setBusy] = useState(false)

  const signIn = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    const token = String(new FormData(form).get('token') ?? '').trim()
    setBusy(true)
    setProblem(undefined)
    try {
      const session = await send<Session>('POST', '/session', { token })
      form.reset()
      client.clear()
      client.setQueryData(sessionQuery.queryKey, session)
      router.history.replace(safeNext(next))
    } catch (error) {
      setProblem(sentenceOf(error))
      setBusy(false)
    }
  }

  // Only the label of a known provider is repeated, so that a link cannot put other words on this page.
  const label = ways?.providers.find((each) => each.label === by)?.label
  const shown = problem ?? refusalText(refusal, label)

  return (
    <div className="mx-auto max-w-md pt-6">
      <Page title="Sign in">
        {shown && (
          <p role="alert" className="mb-3 rounded-md bg-bad-soft px-3 py-2 text-bad" dir="auto">
            {shown}
          </p>
        )}
        <ProviderButtons providers={ways?.providers ?? []} next={safeNext(next)} />
        <form onSubmit={(event) => void signIn(event)} className="rounded-lg border bg-panel p-5">
          <TokenField />
          <Button type="submit" look="primary" disabled={busy}>
            Sign in
          </Button>
        </form>
        <div className="mt-4 text-sm text-quiet">
          {user && (
            <p>You are signed in as {user.username}. Signing in with another token ends this session.</p>
          )}
          {ways?.token_sign_in === 'administrators' && <p>Only administrators sign in with a token.</p>}
          <p>
            The administrator’s first token is in the file <code>root-token</code> of the data folder.
            Administrators make tokens for other users on the page Tokens.
          </p>
        </div>
      </Page>
    </div>
  )
}
