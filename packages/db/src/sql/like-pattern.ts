/** Escapes text for a LIKE pattern, because Prisma's `contains` treats `%` and `_` as wildcards. */
export const likeText = (text: string): string => text.replace(/[\\%_]/g, '\\$&')
