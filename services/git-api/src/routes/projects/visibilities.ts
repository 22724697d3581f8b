/** Who sees a project: its members, everybody signed in, everybody. */
export const visibilities = ['private', 'internal', 'public'] as const
