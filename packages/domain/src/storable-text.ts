/** Replaces NUL, which PostgreSQL cannot store in text. */
export const storableText = (text: string): string => text.replaceAll('\0', '\uFFFD')
