import { visibleControls } from '@switchyard/domain/display'
import stringWidth from 'string-width'

/**
 * Returns a text of the server on one line of a terminal. Characters that a terminal would execute or hide
 * become `U+001B`.
 */
export const oneLine = (text: string) =>
  visibleControls(text.replace(/[\t\r\n]+/g, ' ').replace(/\p{Cs}/gu, '\ufffd'))

/**
 * Returns the same text with its lines, each behind a margin so that no line looks like output of the
 * command.
 */
export const severalLines = (text: string) =>
  text
    .split(/\r?\n/)
    .map((line) => `  ${oneLine(line)}`)
    .join('\n')

/** Characters that JSON does not escape, and that a terminal would execute or hide. */
const unescaped = /[\u007f-\u009f\u2028\u2029]|\p{Cf}/gu

const escapeOf = (character: string) =>
  character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')

/** Returns JSON that is safe on a terminal; every parser of JSON reads the same value. */
export const safeJson = (value: unknown, indent?: number) =>
  JSON.stringify(value, null, indent).replace(unescaped, escapeOf)

export type Cell = string | number | boolean | null | undefined

const isEmpty = (cell: Cell) => cell === null || cell === undefined || cell === ''
const cellText = (cell: Cell) => (isEmpty(cell) ? '-' : oneLine(String(cell)))

/** Returns rows under their headings, in columns. */
export function table(headings: string[], rows: Cell[][]): string {
  const texts = [headings, ...rows.map((row) => row.map(cellText))]
  const widths = headings.map((_, column) => Math.max(...texts.map((row) => stringWidth(row[column] ?? ''))))
  const padded = (text: string, column: number) =>
    text + ' '.repeat(Math.max(0, (widths[column] ?? 0) - stringWidth(text)))
  return texts.map((row) => row.map(padded).join('  ').trimEnd()).join('\n')
}

/** Returns names with their values, one on each line, without those that have no value. */
export function facts(entries: Record<string, Cell>): string {
  const rows = Object.entries(entries).filter(([, value]) => !isEmpty(value))
  const width = Math.max(...rows.map(([name]) => name.length))
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${cellText(value)}`).join('\n')
}

/** Formats an instant of the API to the second. */
export const instant = (text: string | null | undefined) => text?.replace(/\.\d+Z$/, 'Z')
