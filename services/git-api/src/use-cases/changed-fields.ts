/** The fields of a request that get another value. */
export const changedFields = <Fields extends object>(
  current: { [Field in keyof Fields]?: unknown },
  asked: Fields,
): Partial<Fields> =>
  Object.fromEntries(
    Object.entries(asked).filter(
      ([field, value]) => value !== undefined && value !== current[field as keyof Fields],
    ),
  ) as Partial<Fields>

/** The problems of changed fields. An unchanged value may break a rule that is younger than the value. */
export const problemsOfChanges = (problems: Record<string, string[]>, changes: object) =>
  Object.fromEntries(Object.entries(problems).filter(([field]) => field in changes))
