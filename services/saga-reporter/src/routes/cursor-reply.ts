import { type Call, linkOf, linkParameters, ok, type Reply } from '@switchyard/service-kit/http'

/** The headers of a page of a list without page numbers. */
export const cursorHeaders = {
  Link: 'The page `next`; left out on the last one',
  'X-Next-Cursor': 'Where the next page begins; left out on the last one',
  'X-Per-Page': 'Rows on a page',
}

/**
 * A page of a list without page numbers: `Link` and `X-Next-Cursor` name the next page, and are left out on the last page.
 *
 * @param next the parameter that selects the next page; null on the last page
 */
export function cursorReply(
  items: unknown[],
  perPage: number,
  next: { parameter: string; value: string } | null,
  call: Call,
): Reply {
  const headers = { 'X-Per-Page': String(perPage) }
  if (next === null) return ok(items, headers)
  const { pathname, parameters: searchParams } = linkParameters(call)
  searchParams.set(next.parameter, next.value)
  searchParams.set('per_page', String(perPage))
  searchParams.sort()
  const link = `<${call.baseUrl}${pathname}?${searchParams}>; rel="next"`
  return ok(items, { ...headers, ...linkOf([link]), 'X-Next-Cursor': next.value })
}
