import { queryOptions, useQuery } from '@tanstack/react-query'
import type { SignIn } from '../generated/types.gen'
import { get } from './client'
import { endedSession, hasUnsavedWork } from './session-end'

export interface SessionUser {
  id: number
  username: string
  name: string
  is_admin: boolean
}

export interface Session {
  user: SessionUser | null
  scopes: string[]
  expires_at?: string | null
  /** The provider of single sign-on by which the session began. */
  provider?: string
}

const sessionKey = ['session']

export const sessionQuery = queryOptions({
  queryKey: sessionKey,
  async queryFn({ signal, client }) {
    const session = await get<Session>('/session', {}, signal)
    const before = client.getQueryData<Session>(sessionKey)
    if (session.user || !before?.user || !hasUnsavedWork()) return session
    // Typed text and running uploads stay on the page until the user has signed in again.
    endedSession.set(true)
    return before
  },
  staleTime: 60_000,
})

/** The ways to begin a session, and whether users can create their own tokens. */
export const signInQuery = queryOptions({
  queryKey: ['sign-in'],
  queryFn: ({ signal }) => get<SignIn>('/sign_in', {}, signal),
  staleTime: 60_000,
})

/** The parts of the console that only some sessions may use. */
export type Area =
  | 'sagas'
  | 'sagas.change'
  | 'sagas.webhooks'
  | 'projects'
  | 'projects.change'
  | 'broadcasts'
  | 'queues'
  | 'jobs'
  | 'users'
  | 'tokens'
  | 'audit'
  | 'system'

/**
 * Applies the rules of the API's guards: administrators read with `read_api` and change with `api`; some
 * scopes permit one area each.
 */
export function mayUse({ user, scopes }: Session, area: Area): boolean {
  if (!user) return false
  const changes = scopes.includes('api')
  const reads = changes || scopes.includes('read_api')
  const rules: Record<Area, boolean> = {
    sagas: (user.is_admin && reads) || scopes.includes('read_sagas'),
    'sagas.change': user.is_admin && changes,
    'sagas.webhooks': user.is_admin && reads,
    projects: reads,
    'projects.change': changes,
    broadcasts: (user.is_admin && reads) || scopes.includes('manage_broadcasts'),
    queues: (user.is_admin && reads) || scopes.includes('read_metrics'),
    jobs: (user.is_admin && changes) || scopes.includes('manage_jobs'),
    users: user.is_admin && reads,
    tokens: reads,
    audit: user.is_admin && reads,
    system: user.is_admin && reads,
  }
  return rules[area]
}

const signedOut: Session = { user: null, scopes: [] }

export const useSession = (): Session => useQuery(sessionQuery).data ?? signedOut

export function useMay(area: Area): boolean {
  return mayUse(useSession(), area)
}
