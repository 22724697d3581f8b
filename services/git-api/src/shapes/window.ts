import { invalidParameters } from '@switchyard/domain'

/**
 * The requested items of a list: after a number of items, or after the item with a key (undefined: from the
 * first).
 */
export type Window = { take: number } & ({ skip: number } | { after: string | undefined })

interface WindowOf<Item> {
  items: Item[]
  /** Key of the last item when further items follow; null: there are no more. */
  next: string | null
}

/** @throws DomainError invalid-parameters when no item has the key */
export function takeWindow<Item>(
  all: readonly Item[],
  window: Window,
  keyOf: (item: Item) => string,
): WindowOf<Item> {
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
