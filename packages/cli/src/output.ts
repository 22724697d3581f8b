import { visibleControls } from '@switchyard/domain/display'
import stringWidth from 'string-width'

/** A text of the server on one line of a terminal: what it would obey or not show reads `U+001B`. */
export const oneLine = (text: string) =>
  visibleControls(text.replace(/[\t\r\n]+/g, ' ').replace(/\p{Cs}/gu, '\ufffd'))

/** The same with its lines, each behind a margin so that none looks like one of the command. */
export const severalLines = (text: string) =>
  text
    .split(/\r?\n/)
    .map((line) => `  ${oneLine(line)}`)
    .join('\n')

/** What a terminal would obey or not show, of the characters that JSON leaves as they are. */
const unescaped = /[\u007f-\u009f\u2028\u2029]|\p{Cf}/gu

const escapeOf = (character: string) =>
  character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')

/** JSON that may be shown on a terminal; every reader of JSON gets the same value. */
export const safeJson = (value: unknown, indent?: number) =>
  JSON.stringify(value, null, indent).replace(unescaped, escapeOf)

export type Cell = string | number | boolean | null | undefined

const isEmpty = (cell: Cell) => cell === null || cell === undefined || cell === ''
const cellText = (cell: Cell) => (isEmpty(cell) ? '-' : oneLine(String(cell)))

/** Rows under their headings, in columns. */
export function table(headings: string[], rows: Cell[][]): string {
  const texts = [headings, ...rows.map((row) => row.map(cellText))]
  const widths = headings.map((_, column) => Math.max(...texts.map((row) => stringWidth(row[column] ?? ''))))
  const padded = (text: string, column: number) =>
    text + ' '.repeat(Math.max(0, (widths[column] ?? 0) - stringWidth(text)))
  return texts.map((row) => row.map(padded).join('  ').trimEnd()).join('\n')
}

/** Names with their values, one a line; those without a value are left out. */
export function facts(entries: Record<string, Cell>): string {
  const rows = Object.entries(entries).filter(([, value]) => !isEmpty(value))
  const width = Math.max(...rows.map(([name]) => name.length))
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${cellText(value)}`).join('\n')
}

/** An instant of the API to the second. */
export const instant = (text: string | null | undefined) => text?.replace(/\.\d+Z$/, 'Z')
