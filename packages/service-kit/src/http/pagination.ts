import { invalidParameters } from '@switchyard/domain'
import { type Call, ok, type Reply } from './endpoint.js'
import { integer, text } from './parameters.js'

const perPageDefault = 20
const perPageMax = 100
/**
 * Longest header `Link`, because proxies refuse longer headers. Clients still receive the numbers of the
 * pages, in headers of their own.
 */
const linkBytesMax = 8 * 1024

/** Parameters of every list; spread into the endpoint's own. A page size above 100 is read as 100. */
export const pageParameters = {
  page: integer(1).default(1).meta({ description: 'Page number, from 1' }),
  per_page: integer(1)
    .transform((value) => Math.min(value, perPageMax))
    .default(perPageDefault)
    .meta({ description: `Items per page, at most ${perPageMax}` }),
}

export interface Page {
  page: number
  per_page: number
}

/** Returns the number of rows to skip and to take for a page. */
export const rowsOf = ({ page, per_page }: Page) => ({ skip: (page - 1) * per_page, take: per_page })

/**
 * Returns a page of a list with GitLab's headers. The header of an absent neighbour is empty. Links carry
 * every parameter of the request, including path parameters, sorted by name. They are left out when they are
 * too long.
 *
 * @param total rows in the whole list; null: too many to count. Headers about the last page are then left
 * out, and a full page has a next one
 */
export function pageReply(
  items: unknown[],
  { page, per_page }: Page,
  total: number | null,
  call: Call,
): Reply {
  const pages = total === null ? null : Math.max(1, Math.ceil(total / per_page))
  const previous = page > 1 ? Math.min(page - 1, pages ?? page) : null
  const hasNext = pages === null ? items.length === per_page : page < pages
  const next = hasNext ? page + 1 : null
  const urlOf = pageUrls(call, per_page)
  const link = (rel: string, target: number | null) =>
    target === null ? [] : [`<${urlOf(target)}>; rel="${rel}"`]
  const links = [
    ...link('prev', previous),
    ...link('next', next),
    ...link('first', 1),
    ...link('last', pages),
  ]
  return ok(items, {
    ...linkOf(links),
    'X-Next-Page': next === null ? '' : String(next),
    'X-Page': String(page),
    'X-Per-Page': String(per_page),
    'X-Prev-Page': previous === null ? '' : String(previous),
    ...(total !== null && { 'X-Total': String(total), 'X-Total-Pages': String(total === 0 ? 0 : pages) }),
  })
}

/** Parameters of a list that can also be read on from a token; spread into the endpoint's own. */
export const keysetParameters = {
  pagination: text().default('legacy').meta({ description: '`keyset`: read on by `page_token`' }),
  page_token: text().optional().meta({ description: 'From `Link` of the previous page' }),
}

/**
 * The requested items of a list: after a number of others, or after the item with a key (undefined: from the
 * first on).
 */
export type Window = { take: number } & ({ skip: number } | { after: string | undefined })

/**
 * Returns the requested items of a list.
 *
 * @returns `next`: key of the last item when more items follow; otherwise null
 * @throws DomainError invalid-parameters when no item has the key
 */
export function takeWindow<Item>(
  all: readonly Item[],
  window: Window,
  keyOf: (item: Item) => string,
): { items: Item[]; next: string | null } {
  const start = 'skip' in window ? window.skip : startAfter(all, window.after, keyOf)
  const items = all.slice(start, start + window.take)
  const last = items.at(-1)
  return { items, next: last !== undefined && start + window.take < all.length ? keyOf(last) : null }
}

function startAfter<Item>(all: readonly Item[], key: string | undefined, keyOf: (item: Item) => string) {
  const found = key === undefined ? -1 : all.findIndex((item) => keyOf(item) === key)
  if (key !== undefined && found === -1) throw invalidParameters(['page_token is invalid'])
  return found + 1
}

/** Returns the window of a list: a page, or the items after a token. */
export const windowOf = (pagination: string, pageToken: string | undefined, page: Page): Window =>
  pagination === 'keyset' ? { after: pageToken, take: page.per_page } : rowsOf(page)

/**
 * Returns a page of a list that is read on from a token, with a `Link` to the next page only.
 *
 * @param next token of the next page; null: this is the last one
 * @param tokenParameter the parameter that takes the token
 */
export function keysetReply(
  items: unknown[],
  next: string | null,
  call: Call,
  tokenParameter = 'page_token',
): Reply {
  if (next === null) return ok(items)
  const { pathname, parameters } = linkParameters(call)
  parameters.delete('page')
  parameters.set(tokenParameter, next)
  const link = `<${call.baseUrl}${pathname}?${parameters}>; rel="next"`
  return ok(items, linkOf([link]))
}

/** Returns the header `Link`; leaves it out when it is too long. */
export function linkOf(links: readonly string[]): { Link?: string } {
  const link = links.join(', ')
  return link.length > linkBytesMax ? {} : { Link: link }
}

/**
 * Returns the path and the query of a call for use in links: with the parameters that the endpoint declares.
 * Clients may send a token in the query under any name, where it is ignored. Other parameters are left out,
 * because an answer that repeated a token would spread it.
 */
export function linkParameters({ raw, parameterNames }: Pick<Call, 'raw' | 'parameterNames'>): {
  pathname: string
  parameters: URLSearchParams
} {
  const { pathname, searchParams } = new URL(raw.request.originalUrl, 'http://localhost')
  for (const name of [...searchParams.keys()]) {
    if (!parameterNames.has(name.split('[', 1)[0] ?? '')) searchParams.delete(name)
  }
  return { pathname, parameters: searchParams }
}

/** Returns a function that makes the address of a page of the requested list. */
function pageUrls(call: Call, perPage: number): (page: number) => string {
  const { pathname, parameters: sent } = linkParameters(call)
  const parameters = new URLSearchParams([...sent, ...Object.entries(call.params)])
  parameters.set('page', '')
  parameters.set('per_page', String(perPage))
  parameters.sort()
  // The query is serialized once for all links of an answer.
  const [before = '', after = ''] = String(parameters).split(/(?<=^|&)page=(?=&|$)/)
  return (page) => `${call.baseUrl}${pathname}?${before}page=${page}${after}`
}
