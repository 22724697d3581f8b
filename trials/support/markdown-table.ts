/** Fewest hyphens of each column in the rule below the head of a table. */
const ruleWidthMin = 3

/**
 * Returns a Markdown table with columns of equal width, like the repository's formatter. The first row is the
 * head.
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
