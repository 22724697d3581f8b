/**
 * Text without these characters at its start and its end. A regular expression for the end takes quadratic time on a text
 * that holds long runs of them elsewhere.
 */
export function trimCharacters(text: string, isTrimmed: (character: string) => boolean): string {
  let start = 0
  let end = text.length
  while (start < end && isTrimmed(text.charAt(start))) start += 1
  while (end > start && isTrimmed(text.charAt(end - 1))) end -= 1
  return text.slice(start, end)
}
