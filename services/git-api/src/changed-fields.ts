/** Returns the fields of a request that change their value. */
export const changedFields = <Fields extends object>(
  current: { [Field in keyof Fields]?: unknown },
  asked: Fields,
): Partial<Fields> =>
  Object.fromEntries(
    Object.entries(asked).filter(
      ([field, value]) => value !== undefined && value !== current[field as keyof Fields],
    ),
  ) as Partial<Fields>

/**
 * Returns the problems of changed fields only, because an unchanged value may break a rule that is newer than
 * the value.
 */
export const problemsOfChanges = (problems: Record<string, string[]>, changes: object) =>
  Object.fromEntries(Object.entries(problems).filter(([field]) => field in changes))
