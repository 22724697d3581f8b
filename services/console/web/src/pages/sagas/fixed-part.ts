import { errorTextMin } from './saga-filter'

/** What differs between the errors of one cause: quoted texts, ids and numbers, as saga-reporter groups them. */
const variable =
  /[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}|"[^"\n]*"|'[^'\n]*'|`[^`\n]*`|0x[0-9a-f]+|\b[0-9a-f]{6,}\b|\d+(?:[.,]\d+)*/gi
const charsMax = 200

/** The longest part of the first line of an error that the errors of the same cause have too. */
export function fixedPartOf(error: string): string {
  const [line = ''] = error.split('\n')
  const parts = line.split(variable).map((part) => part.trim())
  const longest = parts.reduce((best, part) => (part.length > best.length ? part : best), '')
  return (longest.length >= errorTextMin ? longest : line).slice(0, charsMax)
}
