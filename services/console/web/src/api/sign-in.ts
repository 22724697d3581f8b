import { queryOptions } from '@tanstack/react-query'
import type { SignIn } from '../generated/types.gen'
import { get } from './client'

/** The ways to begin a session, and whether users make tokens for themselves. */
export const waysQuery = queryOptions({
  queryKey: ['sign-in'],
  queryFn: ({ signal }) => get<SignIn>('/sign_in', {}, signal),
  staleTime: 60_000,
})
