/** Text as it stands inside a LIKE pattern: Prisma's `contains` would read `%` and `_` as wildcards. */
export const likeText = (text: string): string => text.replace(/[\\%_]/g, '\\$&')
