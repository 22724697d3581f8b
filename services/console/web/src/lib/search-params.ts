/**
 * Parses the query of an address. Its values are plain texts, so that links in chats and scripts stay
 * readable: `?q=7&status=Started`. Of repeated values, one counts.
 */
export function parseSearch(text: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(text))
}

export function writeSearch(search: Record<string, unknown>): string {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(search))
    if (value !== undefined && value !== null && value !== '') params.set(name, String(value))
  const text = params.toString()
  return text ? `?${text}` : ''
}

/** Keeps the known parameters of a page and drops all others. */
export const keep =
  <Name extends string>(...names: Name[]) =>
  (search: Record<string, unknown>): Partial<Record<Name, string>> =>
    Object.fromEntries(
      names.flatMap((name) => {
        const value = search[name]
        return typeof value === 'string' && value !== '' ? [[name, value]] : []
      }),
    ) as Partial<Record<Name, string>>

/** Returns the number of a page, from 1; 1 for an invalid text. */
export function pageOf(text: string | undefined): number {
  const page = Number(text)
  return Number.isInteger(page) && page > 0 && page < 1_000_000 ? page : 1
}

/** Returns one of the values, or undefined, because invalid values are ignored. */
export const oneOf = <Value extends string>(
  values: readonly Value[],
  text: string | undefined,
): Value | undefined => values.find((value) => value === text)
