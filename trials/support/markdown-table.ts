/** The rule below the heads of a table has at least three hyphens in each column. */
const ruleWidthMin = 3

/**
 * A table of Markdown with columns of equal width, as the formatter of the repository writes them. The first
 * row has the heads.
 */
export function markdownTable(rows: readonly (readonly string[])[]): string {
  const [head = [], ...body] = rows
  const widths = head.map((_, column) =>
    Math.max(ruleWidthMin, ...rows.map((row) => row[column]?.length ?? 0)),
  )
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)].join('\n')
}
