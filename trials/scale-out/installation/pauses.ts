import type { AcknowledgedWrites } from '../../support/acknowledged-writes.js'

const rows: { [column: string]: string | number }[] = []

/** Notes the longest time without an acknowledgement of each kind since `begin`, and the errors that clients saw. */
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
    for (const error of new Set(seen)) console.info(`${what}, ${kind}: ${error.slice(0, 200)}`)
  }
  rows.push(row)
}

export const printPauses = (): void => console.table(rows)
