/** Options that may be given several times: GitLab shows the count of each value. */
const countedOptions = new Set([
  'ci.input',
  'ci.variable',
  'merge_request.assign',
  'merge_request.label',
  'merge_request.unassign',
  'merge_request.unlabel',
])

/**
 * The options of a push (`git push -o ci.skip`) as GitLab's webhooks show them: `{ ci: { skip: true } }`. `mr` is short
 * for `merge_request`; when an option is given twice, the last value counts. Options that are not of the form
 * `namespace.key` or `namespace.key=value` are left out.
 */
export function presentPushOptions(options: readonly string[]): Record<string, Record<string, unknown>> {
  const namespaces = new Map<string, Map<string, unknown>>()
  for (const option of options) {
    const parts = /^([^.=]+)\.([^=]+)=?(.*)$/s.exec(option)
    if (!parts) continue
    const [, given = '', key = '', value = ''] = parts
    const namespace = given === 'mr' ? 'merge_request' : given
    const known = namespaces.get(namespace) ?? new Map<string, unknown>()
    namespaces.set(namespace, known)
    if (!countedOptions.has(`${namespace}.${key}`)) {
      known.set(key, value === '' ? true : value)
      continue
    }
    const counts = (known.get(key) as Map<string, number> | undefined) ?? new Map<string, number>()
    known.set(key, counts.set(value, (counts.get(value) ?? 0) + 1))
  }
  return Object.fromEntries([...namespaces].map(([name, known]) => [name, plain(known)]))
}

/** `Object.fromEntries` makes `__proto__` a plain key. */
const plain = (known: ReadonlyMap<string, unknown>): Record<string, unknown> =>
  Object.fromEntries([...known].map(([key, value]) => [key, value instanceof Map ? plain(value) : value]))
