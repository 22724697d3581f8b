/** A file of a comment, as its text references it: `![shot](/uploads/<secret>/shot.png)`. */
export interface Attachment {
  label: string
  secret: string
  fileName: string
  isPicture: boolean
}

// Matches only the addresses that the API returns for uploads: 32 digits, and the characters of their names.
const reference = /!?\[([^[\]\n]{0,255})\]\(\/uploads\/([0-9a-f]{32})\/([\p{L}\p{M}\p{N}_.+-]{1,255})\)/gu

/** Matches the names of files that the API sends as pictures. */
const picture = /[^.]\.(png|jpe?g|gif|webp)$/i

/** Splits the text of a comment into its files and the texts between them. */
export function partsOf(note: string): (string | Attachment)[] {
  const parts: (string | Attachment)[] = []
  let end = 0
  for (const { 0: whole, 1: label = '', 2: secret = '', 3: fileName = '', index } of note.matchAll(
    reference,
  )) {
    if (index > end) parts.push(note.slice(end, index))
    const isPicture = whole.startsWith('!') && picture.test(fileName)
    parts.push({ label: label || fileName, secret, fileName, isPicture })
    end = index + whole.length
  }
  if (end < note.length) parts.push(note.slice(end))
  return parts
}
