type Fields = Record<string, unknown>

/**
 * Puts together what a form sends as `actions[][action]=…&actions[][file_path]=…`, field by field. By then
 * each field is a list of its values, which says what belongs together only when every action has the same
 * fields; where not, the parameters stay as they are and are refused. Forms with different actions number
 * them: `actions[0][action]=…`.
 */
export function readFormActions(given: unknown): unknown {
  if (!isFields(given)) return given
  const lists = urlencodedLists(given) ?? multipartLists(given)
  const actions = lists && zipped(lists)
  return actions ? { ...given, actions } : given
}

const isFields = (item: unknown): item is Fields =>
  typeof item === 'object' && item !== null && !Array.isArray(item)

/** `{ actions: [{ action: ['create', 'create'], file_path: ['a', 'b'] }] }` */
function urlencodedLists({ actions }: Fields): Fields | null {
  if (!Array.isArray(actions) || actions.length !== 1) return null
  const [lists] = actions as unknown[]
  return isFields(lists) && Object.values(lists).every(Array.isArray) ? lists : null
}

/** `{ 'actions[][action]': ['create', 'create'], 'actions[][file_path]': ['a', 'b'] }` */
function multipartLists(given: Fields): Fields | null {
  const found = Object.entries(given).flatMap(([key, value]) => {
    const name = /^actions\[\]\[(\w+)\]$/.exec(key)?.[1]
    return name === undefined ? [] : [[name, Array.isArray(value) ? value : [value]] as const]
  })
  return found.length > 0 ? Object.fromEntries(found) : null
}

function zipped(lists: Fields): Fields[] | null {
  const entries = Object.entries(lists) as [string, unknown[]][]
  const length = entries[0]?.[1].length ?? 0
  if (!entries.every(([, values]) => values.length === length)) return null
  return Array.from({ length }, (_, index) =>
    Object.fromEntries(entries.map(([name, values]) => [name, values[index]])),
  )
}
