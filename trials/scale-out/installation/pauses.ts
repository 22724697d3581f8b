import type { AcknowledgedWrites } from '../../support/acknowledged-writes.js'

const rows: { [column: string]: string | number }[] = []

/**
 * Records the longest time without an acknowledgement of each kind since `begin`, and the errors that clients
 * saw.
 */
export function pauseAround(
  what: string,
  begin: number,
  writes: AcknowledgedWrites,
  errorsBefore: number[],
): void {
  const row: { [column: string]: string | number } = { what }
  for (const [index, [kind, { times, errors }]] of [...writes.journals].entries()) {
    const before = times.filter((time) => time < begin).at(-1) ?? begin
    const since = [before, ...times.filter((time) => time >= begin)]
    const pauses = since.slice(1).map((time, place) => time - (since[place] ?? time))
    const seen = errors.slice(errorsBefore[index])
    row[kind] = `${(Math.max(...pauses, 0) / 1000).toFixed(1)} s, ${seen.length} errors`
    const kinds = new Set(seen.map((error) => error.replace(/,"request_id":"[^"]+"/, '').slice(0, 200)))
    for (const error of kinds) console.info(`${what}, ${kind}: ${error}`)
  }
  rows.push(row)
}

export const printPauses = (): void => console.table(rows)
