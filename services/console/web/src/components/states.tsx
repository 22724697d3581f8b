import type { UseQueryResult } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { ApiError } from '../api/client'
import { Button } from './button'
import { Page } from './page'
import { TextLink } from './text-link'

export const Loading = ({ what = 'Loading…' }: { what?: string }) => (
  <div aria-busy="true" className="p-4 text-quiet">
    {what}
  </div>
)

/** The sentence of a failure, with a button to retry when `retry` is set. */
export function Problem({ error, retry }: { error: unknown; retry?: () => unknown }) {
  return (
    <div role="alert" className="flex flex-wrap items-center gap-3 rounded-lg bg-bad-soft px-4 py-3 text-bad">
      <span className="min-w-0 flex-1 wrap-anywhere" dir="auto">
        {sentenceOf(error)}
      </span>
      {retry && <Button onClick={() => void retry()}>Try again</Button>}
    </div>
  )
}

export const sentenceOf = (error: unknown): string =>
  error instanceof ApiError ? error.message : 'Something went wrong on this page. Reload it and try again.'

/** An empty list: its title, and what to do. */
export const Empty = ({ title, children }: { title: string; children?: ReactNode }) => (
  <div className="px-4 py-8 text-center">
    <p className="font-medium">{title}</p>
    {children && <div className="mx-auto mt-1 max-w-xl text-quiet">{children}</div>}
  </div>
)

/** The part of a query that is used here: of a query for an answer, or for a list of pages. */
type Asked<Data> = Pick<UseQueryResult<Data>, 'data' | 'error' | 'isError'> & { refetch: () => unknown }

/**
 * Shows the data of a query, its failure, or that it is loading. For a missing resource, it shows the page
 * 'Not found'.
 */
export function Shown<Data>({
  query,
  children,
}: {
  query: Asked<Data>
  children: (data: Data) => ReactNode
}) {
  if (query.data !== undefined) {
    return (
      <>
        {query.isError && <Problem error={query.error} retry={query.refetch} />}
        {children(query.data)}
      </>
    )
  }
  if (query.isError) return <Problem error={query.error} retry={query.refetch} />
  return <Loading />
}

export const isMissing = (error: unknown) => error instanceof ApiError && error.status === 404

/**
 * Returns whether an error is a 403. A token may be bound to tenants or to a project, which the session does
 * not show.
 */
export const isRefused = (error: unknown) => error instanceof ApiError && error.status === 403

/** An error in place of a page. */
export function Failed({ error, reset }: { error: unknown; reset?: () => void }) {
  const router = useRouter()
  if (isMissing(error)) return <NotFound />
  const retry = () => {
    reset?.()
    return router.invalidate()
  }
  return (
    <Page title="This page could not be shown">
      <Problem error={error} retry={retry} />
    </Page>
  )
}

export const NotFound = () => (
  <Page title="Not found">
    <p>
      There is nothing at this address, or you may not see it. Go to the{' '}
      <TextLink to="/" className="underline">
        Overview
      </TextLink>
      .
    </p>
  </Page>
)

export const NotAllowed = () => (
  <Page title="Not allowed">
    <p>
      Your token does not allow this page. Sign in with another one, or ask an administrator. Go to the{' '}
      <TextLink to="/" className="underline">
        Overview
      </TextLink>
      .
    </p>
  </Page>
)
