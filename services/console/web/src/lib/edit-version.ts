import { useRef, useState } from 'react'
import { ApiError, changeVersion, getVersioned, type Versioned } from '../api/client'

/**
 * Returns a value as a form shows it. Items of a list contain no line breaks, so a line break between them
 * makes lists comparable.
 */
function textOf(fields: object, name: string, between = '\n'): string {
  const value = (fields as Record<string, unknown>)[name]
  return Array.isArray(value) ? value.join(between) : String(value ?? '')
}

/** Returns the fields that have changed. */
const changesOf = <Fields extends object>(before: Fields, after: Fields): Partial<Fields> =>
  Object.fromEntries(
    Object.keys(after)
      .filter((name) => textOf(before, name) !== textOf(after, name))
      .map((name) => [name, after[name as keyof Fields]]),
  ) as Partial<Fields>

/**
 * Refuses a change because another user made one first, and names the current values of the fields that both
 * have changed.
 */
function stale(before: object, now: object, wanted: object): ApiError {
  const both = Object.keys(wanted).filter((name) => textOf(before, name) !== textOf(now, name))
  const stored = both.map((name) => `${name.replaceAll('_', ' ')} “${textOf(now, name, '; ')}”`).join(', ')
  return new ApiError(
    412,
    `Somebody else has changed this meanwhile, so nothing of yours is saved yet. ${stored && `Stored now: ${stored}. `}What you have typed is still here; saving it again stores your changes beside theirs.`,
  )
}

/**
 * Edits a version of a resource: returns the initial fields, and a function that saves those that have
 * changed since then, or since they were last saved. When another user has changed the resource meanwhile,
 * saving is refused with a sentence about it, and saving again changes their version.
 */
export function useEdit<Stored, Fields extends object>(
  path: string,
  { resource, etag }: Versioned<Stored>,
  fieldsOf: (stored: Stored) => Fields,
) {
  const [first] = useState(() => fieldsOf(resource))
  const typed = useRef(first)
  const known = useRef({ fields: first, etag })
  const save = async (fields: Fields): Promise<void> => {
    const changes = changesOf(typed.current, fields)
    if (Object.keys(changes).length === 0) return
    try {
      known.current = { fields, etag: await changeVersion(path, changes, known.current.etag) }
      typed.current = fields
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 412)) throw error
      const before = known.current.fields
      const now = await getVersioned<Stored>(path)
      known.current = { fields: fieldsOf(now.resource), etag: now.etag }
      throw stale(before, known.current.fields, changes)
    }
  }
  /** Uses the version of another change by the same user, such as a button beside the form. */
  const renew = async () => {
    known.current = { ...known.current, etag: (await getVersioned<Stored>(path)).etag }
  }
  return { first, save, renew }
}

/**
 * Changes fields of a resource in a list, unless another user has changed them meanwhile.
 *
 * @throws ApiError that reports it
 */
export async function changeShown<Resource extends object>(
  path: string,
  shown: Resource,
  changes: Partial<Record<keyof Resource, unknown>>,
): Promise<void> {
  const { resource: now, etag } = await getVersioned<Resource>(path)
  const isAsShown = Object.keys(changes).every((name) => textOf(shown, name) === textOf(now, name))
  if (!isAsShown) throw stale(shown, now, changes)
  await changeVersion(path, changes, etag)
}
